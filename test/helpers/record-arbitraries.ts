import fc from 'fast-check';
import type { RecordEnd, StepRecord } from '../../transport/messages.ts';
import {
  algo,
  count,
  endReason,
  maybe,
  model,
  noUndefined,
  record,
  ridArbitrary,
  sampling,
  tokenId,
  tokensArbitrary,
  wireNameArbitrary,
} from './field-arbitraries.ts';

const recordSource = {
  rid: ridArbitrary,
  model,
  replica: wireNameArbitrary,
  configHash: wireNameArbitrary,
  number: count,
};
const signal = fc.oneof(
  fc.constant(NaN),
  fc.double().map((value) => value + 0),
);
const floats = (length: number): fc.Arbitrary<Float32Array> =>
  fc.array(fc.float(), { minLength: length, maxLength: length }).map((values) => Float32Array.from(values));

export const stepRecordArbitrary: fc.Arbitrary<StepRecord> = fc
  .tuple(tokensArbitrary, fc.integer({ min: 0, max: 9 }))
  .chain(([suffix, k]) =>
    record({
      kind: fc.constant<StepRecord['kind']>('step-record'),
      ...recordSource,
      router: wireNameArbitrary,
      position: fc.integer({ min: suffix.length, max: 100_000 }),
      numGenerated: fc.constant(0),
      numSinceArrival: fc.constant(0),
      sampling,
      suffix: fc.constant(suffix),
      sampled: tokenId,
      logprob: signal,
      entropyNats: signal,
      normalizedEntropy: signal,
      destination: fc.integer({ min: 0, max: 255 }),
      token: tokenId,
      isKept: fc.boolean(),
      logSumExp: maybe(signal),
      topValues: floats(k),
      topIds: fc.array(tokenId, { minLength: k, maxLength: k }).map((ids) => Int32Array.from(ids)),
      hidden: maybe(floats(7)),
      scores: maybe(fc.array(record({ digest: wireNameArbitrary, score: signal }), { maxLength: 3 })),
      algo: maybe(algo),
    }),
  )
  .map(({ topValues, topIds, ...rest }) =>
    noUndefined(topIds.length > 0 ? { ...rest, topValues, topIds } : rest),
  );

export const recordEndArbitrary: fc.Arbitrary<RecordEnd> = record({
  kind: fc.constant<RecordEnd['kind']>('record-end'),
  ...recordSource,
  reason: endReason,
  completionTokens: count,
});
