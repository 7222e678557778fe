import type { EndReason, ModelId, RequestLimits, SamplingParams } from '../core/request.ts';
import type { Beacon, Heartbeat, PlanMessage } from './load-messages.ts';
import type { RecordEnd, StepRecord } from './record-messages.ts';

export type * from './load-messages.ts';
export type * from './record-messages.ts';

/** Version of the wire protocol. A frame of another version is counted and dropped. */
export const PROTOCOL_VERSION = 1;

/** Where a request lives: the replica that admitted it. */
export interface HomeAddress {
  model: ModelId;
  replica: string;
}

/** What a model needs at first contact with a request. */
export interface RequestInit {
  promptLen: number;
  sampling: SamplingParams;
  limits: RequestLimits;
  /** Id of the router, one of the deployment's. */
  router: string;
  /** Hash of the sender's deployment: a replica with another one refuses the request. */
  configHash?: string;
}

/** gateway → home, on the model's queue-group subject. `tokens` holds more than the prompt after a recovery. */
export interface Admit {
  kind: 'admit';
  rid: string;
  term: number;
  tokens: readonly number[];
  init: RequestInit;
  /** Id of the gateway that streams the answer. */
  gateway: string;
  /** Time left, in milliseconds; absent = no deadline. */
  deadlineMs?: number;
}

/** Answer to {@link Admit} and to a first {@link PeerReq}, on the reply subject of the frame. */
export interface Admitted {
  kind: 'admitted';
  rid: string;
  term: number;
  model: ModelId;
  replica: string;
}

/** The other answer: not taken. `code` is an error code of the table; `hop` is that of the refused PeerReq, else 0. */
export interface Reject {
  kind: 'reject';
  rid: string;
  term: number;
  hop: number;
  model: ModelId;
  replica: string;
  code: string;
  message: string;
  retryable: boolean;
}

/** Knowledge about one peer: the leading tokens it is known to hold, and its replica if known. */
export interface PeerLoc {
  model: ModelId;
  loc: number;
  replica?: string;
}

/** One token's origin: the model that wrote it and the signal its router looked at (NaN = none). */
export interface TokenOrigins {
  models: readonly ModelId[];
  signals: readonly number[];
}

/** A handoff: home ↔ guest or guest ↔ guest (docs/protocol.md, “Handoff”). */
export interface PeerReq {
  kind: 'peer-req';
  rid: string;
  /** Raised only by recovery. */
  term: number;
  /** Counts the handoffs of this request; (term, hop) orders all messages about it. */
  hop: number;
  from: ModelId;
  fromReplica: string;
  to: ModelId;
  /** tokens[loc − suffix.length .. loc) of the sender; may be empty. */
  suffix: readonly number[];
  loc: number;
  home: HomeAddress;
  /** Set when the sender ended the request. */
  finished?: EndReason;
  /** Present at first contact, and whenever the receiver asked for the whole prefix. */
  init?: RequestInit;
  /** What the sender knows of every peer (three models and more). */
  locs?: readonly PeerLoc[];
  /** Origins of the suffix's tokens, index by index; absent where the receiver needs none. */
  origins?: TokenOrigins;
  /** Fields of the routing algorithm. */
  algo?: Readonly<Record<string, number | string | boolean | readonly number[]>>;
}

/** guest → home: committed tokens while the guest keeps the request; also the answer to a repeated PeerReq. */
export interface Progress {
  kind: 'progress';
  rid: string;
  term: number;
  hop: number;
  from: ModelId;
  fromReplica: string;
  suffix: readonly number[];
  loc: number;
  origins: TokenOrigins;
}

/** The receiver holds only `have` leading tokens; the sender repeats from there. Also gateway → home. */
export interface NeedsPrefix {
  kind: 'needs-prefix';
  rid: string;
  term: number;
  hop: number;
  /** Model that asks; 0 = the gateway. */
  from: ModelId;
  fromReplica: string;
  have: number;
}

/** home → gateway. `position` counts generated tokens from 0. */
export interface Tokens {
  kind: 'tokens';
  rid: string;
  term: number;
  position: number;
  ids: readonly number[];
  origins: TokenOrigins;
  /** The home that speaks: where two have taken one request, only the first one counts. */
  replica?: string;
}

export interface RequestUsage {
  promptTokens: number;
  completionTokens: number;
  /** Committed tokens per model id, as [model, tokens]. */
  tokensByModel: readonly (readonly [ModelId, number])[];
  handoffs: number;
}

/** home → gateway: the last message of a request. */
export interface Finish {
  kind: 'finish';
  rid: string;
  term: number;
  reason: EndReason;
  usage: RequestUsage;
  /** For `error` and `deadline`: code of the table and a message for the client. */
  error?: { code: string; message: string };
  /** The home that speaks. */
  replica?: string;
}

/** home → guest: free the state of this request. */
export interface Release {
  kind: 'release';
  rid: string;
  term: number;
}

/** gateway → home: end now. `at`: number of generated tokens to keep (match of a stop string). */
export interface Abort {
  kind: 'abort';
  rid: string;
  term: number;
  reason: EndReason;
  at?: number;
}

/** anyone → replica subject, with a reply: answered by a {@link Heartbeat}. */
export interface Probe {
  kind: 'probe';
}

export type Message =
  | Admit
  | Admitted
  | Reject
  | PeerReq
  | Progress
  | NeedsPrefix
  | Tokens
  | Finish
  | Release
  | Abort
  | Beacon
  | PlanMessage
  | Heartbeat
  | Probe
  | StepRecord
  | RecordEnd;

export type MessageKind = Message['kind'];
