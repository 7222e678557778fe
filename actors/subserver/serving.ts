import type { TokenrailError } from '../../core/errors.ts';
import type { PlanSolver } from '../../scheduling/index.ts';
import type { Bus, BusSubscription } from '../../transport/bus.ts';
import type { Heartbeat, Message } from '../../transport/messages.ts';
import { ClientLoop } from './client-loop.ts';
import type { SubserverContext } from './context.ts';
import { DecodingLoop } from './decoding-loop.ts';
import { Dispatcher } from './dispatch.ts';
import { failRequest } from './failing.ts';
import { guarded } from './guarded.ts';
import { InterModelLoop } from './inter-model-loop.ts';
import { SelfScheduling } from './self-scheduling.ts';
import { Sweeper } from './sweeper.ts';

export interface ServingHooks {
  isServing: () => boolean;
  onProbe: (reply: string) => void;
  solver: PlanSolver | undefined;
}

/** The three loops of a loaded subserver and their subscriptions. */
export class Serving {
  readonly context: SubserverContext;
  readonly scheduling: SelfScheduling;
  private readonly bus: Bus;
  private readonly decoding: DecodingLoop;
  private readonly peers: InterModelLoop;
  private readonly sweeper: Sweeper;
  private readonly dispatcher: Dispatcher;
  /** First contacts: given up when draining. */
  private readonly intake: BusSubscription[] = [];
  private readonly subscriptions: BusSubscription[] = [];
  private onEmpty: (() => void) | undefined;

  constructor(context: SubserverContext, bus: Bus, hooks: ServingHooks) {
    this.context = context;
    this.bus = bus;
    this.scheduling = new SelfScheduling(context, hooks.solver);
    this.decoding = new DecodingLoop(context, () => this.scheduling.stepEnded());
    const clients = new ClientLoop(context, hooks.isServing);
    this.peers = new InterModelLoop(context, hooks.isServing);
    this.dispatcher = new Dispatcher(context, {
      clients,
      peers: this.peers,
      scheduling: this.scheduling,
      onProbe: hooks.onProbe,
    });
    this.sweeper = new Sweeper(context.clock, context.options.resendMs / 4, (nowMs) => this.sweep(nowMs));
  }

  /** Subscribes, and makes sure the broker knows before anybody is told that this replica serves. */
  async listen(): Promise<void> {
    const { subjects, options, modelName, inboxes } = this.context;
    const name = modelName(options.self);
    const receive = this.dispatcher.receive.bind(this.dispatcher);
    this.subscriptions.push(
      this.bus.subscribe(subjects.replica(name, options.replica), receive),
      this.bus.subscribe(inboxes.all(), receive),
      this.bus.subscribe(subjects.allBeacons(), receive),
    );
    this.intake.push(this.bus.subscribe(subjects.model(name), receive, { queue: 'replicas' }));
    await this.bus.flush();
  }

  wake(): void {
    this.decoding.wake();
    if (this.context.table.size > 0) this.sweeper.wake();
    else this.onEmpty?.();
  }

  load(): Pick<Heartbeat, 'running' | 'waiting' | 'pending' | 'stepAgeMs'> {
    const { ready, table } = this.context;
    const running = this.decoding.numRowsRunning;
    const waiting = ready.size;
    return {
      running,
      waiting,
      pending: Math.max(0, table.size - running - waiting),
      stepAgeMs: this.decoding.stepAgeMs,
    };
  }

  /** Resolves when no request is left here, or after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    const { clock, table } = this.context;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(timeoutMs, resolve); // also over a bus that does not answer
      const end = (): void => {
        timer.cancel();
        resolve();
      };
      const drained = this.intake.map((subscription) => subscription.drain());
      void Promise.allSettled(drained).then(() => {
        if (table.size === 0) end();
        else this.onEmpty = end;
      });
    });
  }

  async stop(): Promise<void> {
    await this.decoding.stop();
    this.peers.abandonAll();
    this.context.outbox.flush();
    this.sweeper.stop();
    this.context.announcer.stop();
    this.context.beacons.stop();
    for (const subscription of [...this.intake, ...this.subscriptions]) subscription.unsubscribe();
  }

  /** A message that no frame can carry: its request ends here. */
  onTooLarge(message: Message, error: TokenrailError): void {
    this.context.logger.error({ kind: message.kind, err: error }, 'message too large for the bus');
    if (!('rid' in message) || message.kind === 'finish') return;
    const { table } = this.context;
    const home = table.home(message.rid);
    for (const request of home ? [home] : table.guests(message.rid)) {
      failRequest(this.context, request, error);
    }
  }

  private sweep(nowMs: number): boolean {
    const { logger, announcer, outbox, table } = this.context;
    guarded(logger, 'sweep', () => this.peers.sweep(nowMs));
    announcer.refresh();
    outbox.flush();
    return table.size > 0;
  }
}
