import type { AlgoFields, SequenceView } from '../../routers/router.ts';
import type { EndReason, ModelId } from '../../core/request.ts';
import { createRequestLifecycle, type RequestLifecycle } from '../../machines/index.ts';
import type { HomeAddress, RequestInit, TokenOrigins } from '../../transport/messages.ts';
import type { Destination } from './peer-inboxes.ts';

/** The last handoff of a request from here: what a repeat must say again. */
export interface SentHandoff {
  to: ModelId;
  /** Index of the first token of its suffix. */
  start: number;
  loc: number;
  algo: AlgoFields | undefined;
  sentAtMs: number;
  /** 1 after the first send; counts repeats without an answer. */
  attempts: number;
  /** Who could not be had, one replica or the whole model: the reason why a guest gives the request back. */
  lost: Destination | undefined;
}

export interface LiveRequestInput {
  rid: string;
  seq: number;
  role: 'home' | 'guest';
  init: RequestInit;
  home: HomeAddress;
  tokens: readonly number[];
  term: number;
  hop: number;
  /** Of the generated ones among `tokens`, where the sender knows them. */
  origins?: TokenOrigins | undefined;
}

/**
 * One request at one subserver (docs/architecture.md). Phases live in the XState machine; what changes
 * with every token are plain fields here.
 */
export class LiveRequest implements SequenceView {
  readonly rid: string;
  /** Number of its KV in the engine; also the order of arrival. */
  readonly seq: number;
  readonly role: 'home' | 'guest';
  readonly init: RequestInit;
  readonly home: HomeAddress;
  readonly lifecycle: RequestLifecycle;
  readonly tokens: number[];
  /** Model and signal per generated token; model 0 = not known here. */
  readonly originModels: ModelId[] = [];
  readonly originSignals: number[] = [];
  readonly peerLocs = new Map<ModelId, number>();
  readonly peerReplicas = new Map<ModelId, string>();
  private readonly stopIds: ReadonlySet<number>;

  term: number;
  hop: number;
  /** Leading tokens whose KV is in the engine. */
  kvLen = 0;
  /** The last discarded sample: what a home goes on with when the other model is not to be had. */
  held: { token: number; signal: number } | undefined;
  lastSent: SentHandoff | undefined;
  /** The router's fields of the handoff that began this visit. */
  algo: AlgoFields | undefined;
  /** Leading tokens that records of this replica have told. */
  recordedLoc = 0;
  /** Tokens committed here since the request came. */
  numSinceArrival = 0;
  /** Changes with each arrival: the result of a step planned for an earlier visit is void. */
  visit = 0;
  readySinceMs = 0;
  lastHeardMs = 0;
  isInStep = false;
  isOver = false;

  constructor(input: LiveRequestInput) {
    this.rid = input.rid;
    this.seq = input.seq;
    this.role = input.role;
    this.init = input.init;
    this.home = input.home;
    this.tokens = [...input.tokens];
    this.term = input.term;
    this.hop = input.hop;
    this.stopIds = new Set(input.init.limits.stopIds);
    this.lifecycle = createRequestLifecycle(input.rid);
    const numGenerated = input.tokens.length - input.init.promptLen;
    const numBefore = (input.origins?.models.length ?? 0) - numGenerated; // origins of the prompt: none
    for (let i = 0; i < numGenerated; i += 1) {
      this.pushOrigin(
        input.origins?.models[numBefore + i] ?? 0,
        input.origins?.signals[numBefore + i] ?? NaN,
      );
    }
  }

  get promptLen(): number {
    return this.init.promptLen;
  }

  get numGenerated(): number {
    return this.tokens.length - this.init.promptLen;
  }

  /** Appends one token; returns the reason if the request ends with it. */
  append(token: number, model: ModelId, signal: number): EndReason | undefined {
    this.tokens.push(token);
    if (this.numGenerated > 0) this.pushOrigin(model, signal); // a guest may be sent the prompt anew
    return this.ended;
  }

  /** Why the sequence as it stands is complete; undefined if it is not. */
  get ended(): EndReason | undefined {
    const last = this.tokens[this.tokens.length - 1];
    if (this.numGenerated > 0 && last !== undefined && this.stopIds.has(last)) return 'eos';
    return this.numGenerated >= this.init.limits.maxTokens ? 'length' : undefined;
  }

  /**
   * Drops everything after the first `length` tokens: KV, and what peers were known to hold beyond. They may
   * hold other tokens there by now, which a suffix that starts later would leave standing.
   */
  truncate(length: number): void {
    this.tokens.length = Math.min(this.tokens.length, length);
    for (const [model, loc] of this.peerLocs) this.peerLocs.set(model, Math.min(loc, this.tokens.length));
    if (this.tokens.length === 0) this.peerLocs.clear();
    const generated = Math.max(0, this.numGenerated);
    this.originModels.length = Math.min(this.originModels.length, generated);
    this.originSignals.length = Math.min(this.originSignals.length, generated);
    this.kvLen = Math.min(this.kvLen, this.tokens.length);
    this.recordedLoc = Math.min(this.recordedLoc, this.tokens.length);
  }

  /** Origins of tokens[start .. end), index by index; unknown (0, NaN) inside the prompt. */
  originsOf(start: number, end = this.tokens.length): TokenOrigins {
    const models: ModelId[] = [];
    const signals: number[] = [];
    for (let i = start - this.promptLen; i < end - this.promptLen; i += 1) {
      models.push(this.originModels[i] ?? 0);
      signals.push(this.originSignals[i] ?? NaN);
    }
    return { models, signals };
  }

  /** Committed tokens per model, in the order of first appearance; tokens of unknown origin are in no count. */
  tokensByModel(): [ModelId, number][] {
    const counts = new Map<ModelId, number>();
    for (const model of this.originModels) {
      if (model !== 0) counts.set(model, (counts.get(model) ?? 0) + 1);
    }
    return [...counts];
  }

  private pushOrigin(model: ModelId, signal: number): void {
    this.originModels.push(model);
    this.originSignals.push(signal);
  }
}
