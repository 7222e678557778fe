import type { SignalNeeds } from '../engine/engine.ts';
import type { ModelEntry } from '../core/deployment.ts';
import type { ModelId, SamplingParams } from '../core/request.ts';

/** One row of a step as a router sees it. Fields behind `needs` are present only if the router declared them. */
export interface RouteRow {
  readonly rid: string;
  /** Index of the sampled token in the sequence (prompt included). */
  readonly position: number;
  /** Number of generated tokens before this one. */
  readonly numGenerated: number;
  /** The token this model would write. */
  readonly sampled: number;
  readonly logprob: number;
  readonly entropyNats: number;
  /** Entropy over ln(vocabulary), in [0, 1]; NaN if the logits were not finite. */
  readonly normalizedEntropy: number;
  /** ln Σ exp of the raw logits: a listed token has probability exp(value − logSumExp). Absent: the engine has none. */
  readonly logSumExp?: number;
  readonly topValues?: Float32Array;
  readonly topIds?: Int32Array;
  readonly hidden?: Float32Array;
  readonly embedding?: Float32Array;
  readonly logits?: Float32Array;
  /** Score of each declared head by its file, in [0, 1]. */
  readonly scores?: Readonly<Record<string, number>>;
  /** What the router of the sending model gave along with the handoff that began this visit. */
  readonly algo?: AlgoFields;
  readonly sampling: SamplingParams;
  /**
   * The sequence so far, prompt included, without the sampled token: `position` ids. A live view: it grows after
   * `route` has returned, so neither keep nor change it.
   */
  readonly tokens: readonly number[];
  /** Tokens this model has committed since the request came here. */
  readonly numSinceArrival: number;
}

/** A request's sequence as the hooks see it (docs/writing-a-router.md, The other hooks). A live view. */
export interface SequenceView {
  readonly rid: string;
  readonly tokens: readonly number[];
  readonly promptLen: number;
  /** Leading tokens each peer is known to hold; absent = never met. */
  readonly peerLocs: ReadonlyMap<ModelId, number>;
}

/** Algorithm fields that travel in a handoff. */
export type AlgoFields = Readonly<Record<string, number | string | boolean | readonly number[]>>;

/** What a handoff carries: `tokens[peerLocs[to] .. loc)`. */
export interface SendPlan {
  suffix: readonly number[];
  loc: number;
  algo?: AlgoFields;
}

/** A handoff as `receive` sees it. */
export interface Incoming {
  readonly from: ModelId;
  readonly suffix: readonly number[];
  readonly loc: number;
  readonly algo?: AlgoFields;
}

/** What a handoff adds to the sequence; `gap`: the receiver lacks the prefix; `conflict`: the overlap differs. */
export type ReceivePlan =
  | { kind: 'append'; tokens: readonly number[]; numSkipped: number }
  | { kind: 'gap'; have: number }
  | { kind: 'conflict'; position: number };

/**
 * The routing behaviour of ONE model in ONE deployment. `route` is required; everything else has the
 * defaults that docs/writing-a-router.md gives.
 */
export interface Router {
  readonly name: string;
  readonly needs: SignalNeeds;
  /** What happens to the sampled token when the request leaves: small models usually discard, large ones keep. */
  readonly onHandoff: 'discard' | 'keep';
  /**
   * Whether a guest that has committed nothing in this visit may discard its token and pass the request on to another
   * guest, as in a cascade of models. Only to one of a higher id: so a request cannot go round without a token, however
   * often the models doubt. Anywhere else, and by default, a visit of a guest commits one token at least. Has a
   * meaning only with `onHandoff: 'discard'`.
   */
  readonly passesOn?: boolean;
  /**
   * One destination per row: 0 = stay, k = model k. Synchronous; sees all rows of the step that use this router.
   * A throw, a wrong length, NaN or an unknown model fails only the request concerned.
   */
  route(rows: readonly RouteRow[]): ArrayLike<number>;
  /** Chosen once at admission, before any forward pass: 0 = the home begins. Default 0. Asked at the home only. */
  first?(view: SequenceView, sampling: SamplingParams): number;
  /**
   * The token that the row writes if it is kept: an id of the vocabulary. Default: the sampled one. A pure function of
   * the row, since a row may be asked again.
   */
  choose?(row: RouteRow): number;
  /**
   * Default: {@link defaultSend}.
   * @param row the row that leaves; absent where the handoff follows from no step (`first`, recovery)
   */
  send?(view: SequenceView, to: ModelId, row?: RouteRow): SendPlan;
  /** Default: {@link defaultReceive}. */
  receive?(view: SequenceView, incoming: Incoming): ReceivePlan;
  /** What the client sees as this row's signal. Default: the normalized entropy. */
  signal?(row: RouteRow): number;
}

/** What a router is made from. */
export interface RouterContext {
  /** The model this instance routes for. */
  readonly self: ModelId;
  readonly home: ModelId;
  readonly models: readonly ModelEntry[];
  /** Options of the configuration, as given; validate them and name the option in the error. */
  readonly options: Readonly<Record<string, unknown>>;
  /** What relative paths among the options are relative to. Default: the working directory. */
  readonly baseDir?: string;
  /** Tells whoever runs the deployment, in the log. Default: nobody. */
  readonly warn?: (text: string) => void;
}

/** Makes a router for one model; the default export of a router module. */
export type RouterFactory = (context: RouterContext) => Router;
