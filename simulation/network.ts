import type { Clock } from '../core/clock.ts';
import { uniform } from '../core/random.ts';
import {
  SimulatedBus,
  type Endpoint,
  type NetworkPort,
  type SimulatedSubscription,
} from './simulated-bus.ts';
import { subjectMatches } from './subject-match.ts';

/** How the simulated network treats messages. All probabilities per message and receiver. */
export interface NetworkOptions {
  /** Time from publisher to subscriber, in milliseconds. */
  hopMs: number;
  /** Up to this much more, drawn per message; messages of one publisher keep their order unless `reorder` strikes. */
  jitterMs?: number;
  lossProbability?: number;
  duplicateProbability?: number;
  /** Probability that a message takes `reorderMs` longer and is overtaken. */
  reorderProbability?: number;
  reorderMs?: number;
  /** Decides all draws. */
  seed?: number;
  maxPayloadBytes?: number;
  /** Subjects on which faults strike; default all. */
  isFaulty?: (subject: string) => boolean;
}

/** Who listens on a subject: each of `plain`, and one member of each group. */
interface Matches {
  plain: readonly SimulatedSubscription[];
  groups: readonly (readonly SimulatedSubscription[])[];
}

/** Subjects remembered at most: those of inboxes occur once each. */
const MAX_MATCHES = 4096;

const NO_RESPONDERS = new Uint8Array(0);

/**
 * A core-NATS network in virtual time: wildcards, queue groups, "no responders", at most once. Deterministic:
 * every draw comes from the seed and the number of the message.
 */
export class SimulatedNetwork implements NetworkPort {
  readonly maxPayloadBytes: number;
  private readonly clock: Clock;
  private options: NetworkOptions;
  private readonly endpoints = new Set<SimulatedBus>();
  private numDraws = 0;
  /** Subscriptions by subject, as long as nobody subscribes or unsubscribes. */
  private readonly matches = new Map<string, Matches>();
  private readonly lastArrivalMs = new Map<string, number>();

  constructor(clock: Clock, options: NetworkOptions) {
    this.clock = clock;
    this.options = options;
    this.maxPayloadBytes = options.maxPayloadBytes ?? 1_048_576;
  }

  /** A connection of its own: one per process that is simulated. */
  connect(name: string): SimulatedBus {
    const bus = new SimulatedBus(name, this, this.clock);
    this.attach(bus);
    return bus;
  }

  attach(bus: SimulatedBus): void {
    this.endpoints.add(bus);
    this.matches.clear();
  }

  /** Changes faults while the simulation runs. */
  configure(change: Partial<NetworkOptions>): void {
    this.options = { ...this.options, ...change };
  }

  remove(bus: SimulatedBus): void {
    this.endpoints.delete(bus);
    this.matches.clear();
  }

  subscriptionsChanged(): void {
    this.matches.clear();
  }

  /** Routes one message as a broker would. */
  route(from: Endpoint, subject: string, payload: Uint8Array, reply: string | undefined): void {
    const receivers = this.receivers(subject);
    for (const receiver of receivers) this.deliver(from, receiver, subject, payload, reply, false);
    if (receivers.length > 0 || reply === undefined) return;
    for (const receiver of this.receivers(reply)) {
      if (receiver.owner === from) this.deliver(from, receiver, reply, NO_RESPONDERS, undefined, true);
    }
  }

  private receivers(subject: string): readonly SimulatedSubscription[] {
    const { plain, groups } = this.matchesOf(subject);
    if (groups.length === 0) return plain;
    const members = groups.map((group) => group[Math.floor(this.draw() * group.length)]);
    return [...plain, ...members.filter((member) => member !== undefined)];
  }

  private matchesOf(subject: string): Matches {
    const known = this.matches.get(subject);
    if (known) return known;
    const plain: SimulatedSubscription[] = [];
    const groups = new Map<string, SimulatedSubscription[]>();
    for (const endpoint of this.endpoints) {
      for (const subscription of endpoint.subscriptions) {
        if (!subjectMatches(subscription.subject, subject)) continue;
        const group = groups.get(subscription.queue ?? '');
        if (subscription.queue === undefined) plain.push(subscription);
        else if (group) group.push(subscription);
        else groups.set(subscription.queue, [subscription]);
      }
    }
    const found = { plain, groups: [...groups.values()] };
    if (this.matches.size >= MAX_MATCHES) this.matches.clear();
    this.matches.set(subject, found);
    return found;
  }

  private deliver(
    from: Endpoint,
    to: SimulatedSubscription,
    subject: string,
    payload: Uint8Array,
    reply: string | undefined,
    isNoResponders: boolean,
  ): void {
    const { lossProbability = 0, duplicateProbability = 0, isFaulty } = this.options;
    const strikes = isFaulty?.(subject) ?? true;
    if (strikes && lossProbability > 0 && this.draw() < lossProbability) return;
    const copies = strikes && duplicateProbability > 0 && this.draw() < duplicateProbability ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const message = {
        subject,
        payload: payload.slice(),
        isNoResponders,
        ...(reply === undefined ? {} : { reply }),
      };
      this.clock.setTimer(this.delayMs(from, to, strikes), () => to.deliver(message));
    }
  }

  private delayMs(from: Endpoint, to: SimulatedSubscription, strikes: boolean): number {
    const { hopMs, jitterMs = 0, reorderProbability = 0, reorderMs = 0 } = this.options;
    const nowMs = this.clock.nowMs();
    const jitter = jitterMs > 0 ? this.draw() * jitterMs : 0;
    const arrivalMs = nowMs + hopMs + jitter;
    if (strikes && reorderProbability > 0 && this.draw() < reorderProbability) {
      return hopMs + jitter + this.draw() * reorderMs;
    }
    // One publisher's messages to one subscriber arrive in order.
    const key = `${from.name} ${to.number}`;
    const inOrderMs = Math.max(arrivalMs, this.lastArrivalMs.get(key) ?? 0);
    this.lastArrivalMs.set(key, inOrderMs);
    return inOrderMs - nowMs;
  }

  private draw(): number {
    this.numDraws += 1;
    return uniform({
      seed: this.options.seed ?? 0,
      position: this.numDraws,
      model: 0,
      purpose: 'simulation',
    });
  }
}
