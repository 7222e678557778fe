import fc from 'fast-check';
import type { PolicySpec } from '../../scheduling/index.ts';
import type { NetworkOptions } from '../../simulation/index.ts';
import { between } from './even-arbitraries.ts';

/** Everything that may go wrong in one run. Times in milliseconds of virtual time after the first request. */
export interface Chaos {
  numModels: 2 | 3;
  numRequests: number;
  maxTokens: number;
  replicas: readonly number[];
  policies: readonly PolicySpec[];
  pUnsure: number;
  meanSpan: number;
  network: NetworkOptions;
  isSampled: boolean;
  isKvTiny: boolean;
  budget: number;
  retryMs: number;
  aborts: readonly { request: number; atMs: number; at: number | undefined }[];
  deadlines: readonly { request: number; ms: number }[];
  crashes: readonly { model: number; replica: number; atMs: number; downMs: number }[];
  outages: readonly { model: number; replica: number; atMs: number; forMs: number }[];
  homeDrainMs: number | undefined;
}

const policies = fc.oneof(
  fc.constant<PolicySpec>({ kind: 'eager' }),
  fc.record({
    kind: fc.constant('threshold' as const),
    threshold: fc.integer({ min: 1, max: 12 }),
    maxWaitMs: fc.constant(60),
  }),
);
const moment = fc.integer({ min: 0, max: 400 });
const request = fc.integer({ min: 0, max: 7 });

/** @param numModels 2: R-Stitch on a scripted pair; 3: destinations drawn at random, tokens kept */
export function chaos(numModels: 2 | 3): fc.Arbitrary<Chaos> {
  const guest = fc.integer({ min: 2, max: numModels });
  const replica = fc.integer({ min: 0, max: 1 });
  return fc.record({
    numModels: fc.constant(numModels),
    numRequests: fc.integer({ min: 1, max: 8 }),
    maxTokens: fc.integer({ min: 4, max: 20 }),
    replicas: fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 3, maxLength: 3 }),
    policies: fc.array(policies, { minLength: 3, maxLength: 3 }),
    pUnsure: between(0, 1),
    meanSpan: between(1, 6),
    network: fc.record({
      hopMs: between(0, 2),
      jitterMs: between(0, 3),
      lossProbability: fc.constantFrom(0, 0, 0.02, 0.1),
      duplicateProbability: fc.constantFrom(0, 0.2),
      reorderProbability: fc.constantFrom(0, 0.2),
      reorderMs: fc.constant(30),
      seed: fc.integer(),
    }),
    isSampled: fc.boolean(),
    isKvTiny: fc.boolean(),
    budget: fc.constantFrom(4, 16, 512),
    retryMs: fc.constantFrom(50, 2000),
    aborts: fc.array(
      fc.record({
        request,
        atMs: moment,
        at: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
      }),
      { maxLength: 3 },
    ),
    deadlines: fc.array(fc.record({ request, ms: moment }), { maxLength: 2 }),
    crashes: fc.array(fc.record({ model: guest, replica, atMs: moment, downMs: moment }), { maxLength: 2 }),
    outages: fc.array(
      fc.record({
        model: fc.integer({ min: 1, max: numModels }),
        replica,
        atMs: moment,
        forMs: fc.integer({ min: 1, max: 600 }),
      }),
      { maxLength: 2 },
    ),
    homeDrainMs: fc.option(moment, { nil: undefined, freq: 3 }),
  });
}
