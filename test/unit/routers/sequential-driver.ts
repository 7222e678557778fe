import { STAY } from '../../../core/request.ts';
import { defaultReceive, defaultSend } from '../../../routers/default-hooks.ts';
import { routeChecked } from '../../../routers/checked-router.ts';
import type { Incoming, RouteRow, Router } from '../../../routers/router.ts';
import { rowOf } from './rows.ts';

/** What a scripted model says at a position: the token it samples, and what its router looks at. */
export interface ScriptedStep {
  sampled: number;
  row: Partial<RouteRow>;
}

export interface ScriptedModel {
  router: Router;
  /** The model's answer when it feeds the token before `position`. */
  step(position: number): ScriptedStep;
}

type TraceEvent = Record<string, unknown>;

/**
 * One request through several models, one step at a time, in the order of a step that
 * docs/architecture.md gives: the smallest thing that can carry a router. It writes the events of the golden traces.
 */
export class SequentialDriver {
  readonly events: TraceEvent[] = [];
  private readonly models: ReadonlyMap<number, ScriptedModel>;
  private readonly state = new Map<
    number,
    { tokens: number[]; kvLen: number; peerLocs: Map<number, number> }
  >();
  private readonly request: { prompt: readonly number[]; eos: number; home: number; maxNew: number };

  constructor(
    models: ReadonlyMap<number, ScriptedModel>,
    request: { prompt: readonly number[]; eos: number; home: number; maxNew: number },
  ) {
    this.models = models;
    this.request = request;
    for (const id of models.keys()) this.state.set(id, { tokens: [], kvLen: 0, peerLocs: new Map() });
    this.stateOf(request.home).tokens.push(...request.prompt);
  }

  /** Runs to the end; returns the generated tokens. */
  run(maxSteps = 200): number[] {
    let at = this.request.home;
    for (let steps = 0; steps < maxSteps; steps += 1) {
      const { destination, isFinished } = this.step(at);
      if (isFinished && at === this.request.home) {
        this.releaseGuests();
        return this.output();
      }
      if (destination !== STAY) {
        this.handOff(at, destination, isFinished);
        at = destination;
        if (isFinished) return this.output();
      }
    }
    throw new Error(`no end after ${maxSteps} steps`);
  }

  private stateOf(model: number) {
    const state = this.state.get(model);
    if (!state) throw new Error(`no model ${model}`);
    return state;
  }

  private modelOf(id: number): ScriptedModel {
    const model = this.models.get(id);
    if (!model) throw new Error(`no model ${id}`);
    return model;
  }

  private output(): number[] {
    return this.stateOf(this.request.home).tokens.slice(this.request.prompt.length);
  }

  private step(at: number): { destination: number; isFinished: boolean } {
    const state = this.stateOf(at);
    const model = this.modelOf(at);
    const { router } = model;
    const fedTokens = state.tokens.slice(state.kvLen);
    state.kvLen = state.tokens.length;
    const position = state.tokens.length;
    const { sampled, row } = model.step(position);
    const scope = { self: at, numModels: this.models.size };
    const { destinations, failures } = routeChecked(
      router,
      [rowOf({ position, sampled, tokens: state.tokens, ...row })],
      scope,
    );
    const failure = failures.get(0);
    if (failure) throw failure;
    let destination = destinations[0] ?? STAY;
    const isDiscarded = destination !== STAY && router.onHandoff === 'discard';
    if (!isDiscarded) state.tokens.push(sampled);
    const isFull = state.tokens.length - this.request.prompt.length >= this.request.maxNew;
    const isFinished = !isDiscarded && (sampled === this.request.eos || isFull);
    if (isFinished) destination = at === this.request.home ? STAY : this.request.home;
    this.events.push({
      ev: 'step',
      at,
      fedTokens,
      position,
      sampled,
      destination,
      committed: isDiscarded ? [] : [sampled],
      discarded: isDiscarded ? [sampled] : [],
      kvLenAfter: state.kvLen,
      tokensAfter: [...state.tokens],
      finished: isFinished,
    });
    return { destination, isFinished };
  }

  private viewOf(at: number) {
    const { tokens, peerLocs } = this.stateOf(at);
    return { rid: 'req-1', tokens: [...tokens], promptLen: this.request.prompt.length, peerLocs };
  }

  private handOff(from: number, to: number, finished: boolean): void {
    const { router } = this.modelOf(from);
    const plan = router.send?.(this.viewOf(from), to) ?? defaultSend(this.viewOf(from), to);
    this.stateOf(from).peerLocs.set(to, plan.loc);
    this.pushSend(from, to, plan.suffix, plan.loc, finished);
    this.receive(to, { from, suffix: plan.suffix, loc: plan.loc });
  }

  private receive(at: number, incoming: Incoming): void {
    const { router } = this.modelOf(at);
    const state = this.stateOf(at);
    const plan = router.receive?.(this.viewOf(at), incoming) ?? defaultReceive(this.viewOf(at), incoming);
    if (plan.kind !== 'append') throw new Error(`unexpected ${plan.kind} at model ${at}`);
    state.tokens.push(...plan.tokens);
    state.peerLocs.set(incoming.from, incoming.loc);
    this.events.push({
      ev: 'receive',
      at,
      overlapSkipped: plan.numSkipped,
      committed: plan.tokens,
      kvLenBefore: state.kvLen,
      tokensAfter: [...state.tokens],
      peerLocsAfter: Object.fromEntries(state.peerLocs),
    });
  }

  private releaseGuests(): void {
    for (const [guest, loc] of this.stateOf(this.request.home).peerLocs) {
      this.pushSend(this.request.home, guest, [], loc, true);
    }
  }

  private pushSend(
    from: number,
    to: number,
    tokenIds: readonly number[],
    loc: number,
    finished: boolean,
  ): void {
    const peerLocsAfter = Object.fromEntries(this.stateOf(from).peerLocs);
    this.events.push({ ev: 'send', from, to, tokenIds, loc, finished, peerLocsAfter });
  }
}
