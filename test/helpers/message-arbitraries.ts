import fc from 'fast-check';
import { ERROR_TABLE, type ErrorCode } from '../../core/errors.ts';
import type {
  Abort,
  Admit,
  Admitted,
  Beacon,
  Finish,
  Heartbeat,
  HomeAddress,
  LoadEstimates,
  Message,
  MessageKind,
  NeedsPrefix,
  PeerLoc,
  PeerReq,
  PlanMessage,
  PlannedPolicy,
  PlanStep,
  Probe,
  Progress,
  Reject,
  Release,
  RequestInit,
  SchedulingReport,
  TokenOrigins,
  Tokens,
} from '../../transport/messages.ts';
import {
  algo,
  count,
  duration,
  endReason,
  fieldName,
  maybe,
  model,
  noUndefined,
  record,
  ridArbitrary,
  sampling,
  text,
  tokenId,
  tokensArbitrary,
  wireNameArbitrary,
} from './field-arbitraries.ts';
import { recordEndArbitrary, stepRecordArbitrary } from './record-arbitraries.ts';

/** fast-check arbitraries of every message that the wire protocol allows. */

const originsOf = (length: number): fc.Arbitrary<TokenOrigins> =>
  record({
    models: fc.array(fc.integer({ min: 0, max: 255 }), { minLength: length, maxLength: length }),
    signals: fc.array(fc.oneof(fc.constant(NaN), fc.float()), { minLength: length, maxLength: length }),
  });

export const initArbitrary = (maxPromptLen: number): fc.Arbitrary<RequestInit> =>
  record({
    promptLen: fc.integer({ min: 0, max: maxPromptLen }),
    sampling,
    limits: record({
      maxTokens: fc.integer({ min: 1, max: 1_000_000 }),
      stopIds: fc.array(tokenId, { maxLength: 30 }),
    }),
    router: wireNameArbitrary,
    configHash: maybe(wireNameArbitrary),
  }).map(noUndefined);

const errorCode = fc.constantFrom(...(Object.keys(ERROR_TABLE) as ErrorCode[]));
const head = { rid: ridArbitrary, term: count };
const home: fc.Arbitrary<HomeAddress> = record({ model, replica: wireNameArbitrary });
const peerLoc: fc.Arbitrary<PeerLoc> = record({ model, loc: count, replica: maybe(wireNameArbitrary) }).map(
  noUndefined,
);
const admit = tokensArbitrary.chain((tokens) =>
  record({
    kind: fc.constant<Admit['kind']>('admit'),
    ...head,
    tokens: fc.constant(tokens),
    init: initArbitrary(tokens.length),
    gateway: wireNameArbitrary,
    deadlineMs: maybe(duration),
  }).map(noUndefined),
);

const peerReq = tokensArbitrary.chain((suffix) =>
  record({
    kind: fc.constant<PeerReq['kind']>('peer-req'),
    ...head,
    hop: count,
    from: model,
    fromReplica: wireNameArbitrary,
    to: model,
    suffix: fc.constant(suffix),
    loc: fc.integer({ min: suffix.length, max: 0xffff_ffff }),
    home,
    finished: maybe(endReason),
    init: maybe(initArbitrary(5000)),
    locs: maybe(fc.array(peerLoc, { maxLength: 5 })),
    origins: maybe(originsOf(suffix.length)),
    algo: maybe(algo),
  }).map(noUndefined),
);

const progress = tokensArbitrary.chain((suffix) =>
  record({
    kind: fc.constant<Progress['kind']>('progress'),
    ...head,
    hop: count,
    from: model,
    fromReplica: wireNameArbitrary,
    suffix: fc.constant(suffix),
    loc: fc.integer({ min: suffix.length, max: 0xffff_ffff }),
    origins: originsOf(suffix.length),
  }),
);

const tokens = tokensArbitrary.chain((ids) =>
  record({
    kind: fc.constant<Tokens['kind']>('tokens'),
    ...head,
    position: count,
    ids: fc.constant(ids),
    origins: originsOf(ids.length),
    replica: maybe(wireNameArbitrary),
  }).map(noUndefined),
);

const finish = record({
  kind: fc.constant<Finish['kind']>('finish'),
  ...head,
  reason: endReason,
  usage: record({
    promptTokens: count,
    completionTokens: count,
    tokensByModel: fc.array(fc.tuple(model, count), { maxLength: 4 }),
    handoffs: count,
  }),
  error: maybe(record({ code: errorCode, message: text })),
  replica: maybe(wireNameArbitrary),
}).map(noUndefined);

const share = fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0);
const estimates: fc.Arbitrary<LoadEstimates> = record({
  routing: fc.array(share, { maxLength: 4 }),
  commits: fc.array(duration, { maxLength: 4 }),
  curve: fc
    .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 300 }), duration), {
      maxLength: 20,
      selector: ([rows]) => rows,
    })
    .map((points) => points.sort((a, b) => a[0] - b[0])),
  jitter: duration,
  overlapFactor: fc.double({ min: 1e-9, max: 1, noNaN: true }),
  numOutcomes: count,
  maxNumSeqs: fc.integer({ min: 1, max: 0xffff_ffff }),
});
const threshold = fc.integer({ min: 1, max: 4000 });
const plannedPolicy: fc.Arbitrary<PlannedPolicy> = record({
  kind: fc.constantFrom('eager', 'threshold', 'look-ahead', 'of-a-later-version'),
  threshold: maybe(fc.oneof(threshold, fc.array(threshold, { minLength: 1, maxLength: 9 }))),
  kappa: maybe(duration),
  maxWaitMs: maybe(duration),
}).map(noUndefined);
const planStep: fc.Arbitrary<PlanStep> = record({
  alive: fc.integer({ min: 1, max: 5000 }),
  name: text,
  tokensPerSecond: duration,
  policies: fc.array(plannedPolicy, { minLength: 1, maxLength: 4 }),
});
const scheduling: fc.Arbitrary<SchedulingReport> = record({
  policy: text,
  reason: text,
  alive: count,
  threshold: maybe(count),
  predictedTokensPerSecond: maybe(duration),
  measuredTokensPerSecond: maybe(duration),
  estimates: maybe(estimates),
}).map(noUndefined);

/** One arbitrary per kind of message. */
export const messageArbitraries: {
  readonly [K in MessageKind]: fc.Arbitrary<Extract<Message, { kind: K }>>;
} = {
  admit,
  admitted: record({
    kind: fc.constant<Admitted['kind']>('admitted'),
    ...head,
    model,
    replica: wireNameArbitrary,
  }),
  reject: record({
    kind: fc.constant<Reject['kind']>('reject'),
    ...head,
    hop: count,
    model,
    replica: wireNameArbitrary,
    code: errorCode,
    message: text,
    retryable: fc.boolean(),
  }),
  'peer-req': peerReq,
  progress,
  'needs-prefix': record({
    kind: fc.constant<NeedsPrefix['kind']>('needs-prefix'),
    ...head,
    hop: count,
    from: fc.integer({ min: 0, max: 255 }),
    fromReplica: wireNameArbitrary,
    have: count,
  }),
  tokens,
  finish,
  release: record({ kind: fc.constant<Release['kind']>('release'), ...head }),
  abort: record({
    kind: fc.constant<Abort['kind']>('abort'),
    ...head,
    reason: endReason,
    at: maybe(count),
  }).map(noUndefined),
  beacon: record({
    kind: fc.constant<Beacon['kind']>('beacon'),
    model,
    replica: wireNameArbitrary,
    rowsRunning: count,
    stepLeftMs: duration,
    waiting: count,
    aliveAtHome: count,
    isDeciding: maybe(fc.boolean()),
    estimates: maybe(estimates),
  }).map(noUndefined),
  plan: record({
    kind: fc.constant<PlanMessage['kind']>('plan'),
    model,
    replica: wireNameArbitrary,
    number: count,
    routing: fc.array(fc.array(share, { maxLength: 4 }), { minLength: 1, maxLength: 4 }),
    steps: fc.array(planStep, { minLength: 1, maxLength: 5 }),
  }),
  heartbeat: record({
    kind: fc.constant<Heartbeat['kind']>('heartbeat'),
    model,
    replica: wireNameArbitrary,
    instance: wireNameArbitrary,
    configHash: text,
    state: fc.constantFrom<Heartbeat['state']>('starting', 'serving', 'draining', 'stopped', 'failed'),
    running: count,
    waiting: count,
    pending: count,
    kvUsedBlocks: count,
    kvTotalBlocks: count,
    maxModelLenTokens: count,
    stepAgeMs: duration,
    counters: fc.dictionary(fieldName, count, { maxKeys: 8, noNullPrototype: true }),
    scheduling: maybe(scheduling),
  }).map(noUndefined),
  probe: record({ kind: fc.constant<Probe['kind']>('probe') }),
  'step-record': stepRecordArbitrary,
  'record-end': recordEndArbitrary,
};

/** Any message of any kind. */
export const messageArbitrary: fc.Arbitrary<Message> = fc.oneof(...Object.values(messageArbitraries));
