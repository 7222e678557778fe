import { afterAll, describe, expect, it } from 'vitest';
import { citer } from '../../../routers/citer.ts';
import { coLlm } from '../../../routers/co-llm.ts';
import { compose, fromFields, shortList } from '../../../routers/composition.ts';
import { logSumExp } from '../../../routers/log-sum-exp.ts';
import { r2r } from '../../../routers/r2r.ts';
import type { RouteRow, Router, RouterFactory } from '../../../routers/router.ts';
import { sampleToken } from '../../../engine/sampler.ts';
import { classifierScore, linearScore, mlpScore } from '../../helpers/reference-heads.ts';
import type { ClassifierNet, MlpNet } from '../../helpers/head-files.ts';
import { ScriptedAlgorithms } from '../../helpers/scripted-algorithms.ts';
import { goldenIds, goldenVectors } from './golden.ts';
import { contextOf, rowOf, viewOf } from './rows.ts';

const HOME = 1;
const GUEST = 2;
const algorithms = new ScriptedAlgorithms();
afterAll(() => algorithms.remove());
const covered = new Set<string>();

const heads = {
  r2r: algorithms.head('classifier'),
  citer: algorithms.head('mlp'),
  'co-llm': algorithms.head('linear'),
};
const rowsWith = (head: string, scores: readonly number[]): RouteRow[] =>
  scores.map((score) => rowOf({ scores: { [head]: score } }));
/** The router's signals and destinations for rows with these scores. */
function decide(router: Router, head: string, scores: readonly number[]) {
  const rows = rowsWith(head, scores);
  return { signals: rows.map((row) => router.signal?.(row)), destinations: Array.from(router.route(rows)) };
}
/** Doubles where a step has floats, so that a vector's tolerance can be met. */
const doubles = (values: readonly number[]): Float32Array =>
  Float64Array.from(values) as unknown as Float32Array;

describe('R2R, golden vectors', () => {
  const { r2r: head } = heads;
  interface ForwardInput {
    net: ClassifierNet & { topk: number };
    embeddings: number[][];
    cases: { hidden: number[]; token: number; logits: number[] }[];
    threshold: number;
  }
  interface ForwardExpected {
    results: { divergentProb: number; destination: 'local' | 'llm' }[];
  }
  for (const { id, input, expected } of goldenVectors<ForwardInput, ForwardExpected>(
    'r2r',
    'router-forward',
  )) {
    it(id, () => {
      const scores = input.cases.map(({ hidden, token, logits }) => {
        const top = [...logits].sort((a, b) => b - a).slice(0, input.net.topk);
        return classifierScore(input.net, hidden, input.embeddings[token] ?? [], top);
      });
      const { destinations } = decide(
        r2r(contextOf(HOME, { head, threshold: input.threshold })),
        head,
        scores,
      );
      expect(destinations).toEqual(
        expected.results.map(({ destination }) => (destination === 'llm' ? GUEST : 0)),
      );
    });
    covered.add(id);
  }
  type RouteInput = { selfId: number; threshold: number; divergentProbs: number[] };
  for (const { id, input, expected } of goldenVectors<RouteInput, { destination: number[] }>(
    'r2r',
    'route',
  )) {
    it(id, () => {
      const router = r2r(contextOf(input.selfId, { head, threshold: input.threshold }));
      const { signals, destinations } = decide(router, head, input.divergentProbs);
      expect(destinations).toEqual(expected.destination);
      expect(signals).toEqual(input.divergentProbs);
    });
    covered.add(id);
  }
});

describe('CITER, golden vectors', () => {
  const { citer: head } = heads;
  interface ForwardInput {
    net: MlpNet;
    hidden: number[][];
    tau: number;
    selfId: number;
  }
  type ForwardExpected = { confidence: number[]; destination: number[] };
  for (const { id, input, expected, tolerance = 0 } of goldenVectors<ForwardInput, ForwardExpected>(
    'citer',
    'router-forward',
  )) {
    it(id, () => {
      const router = citer(contextOf(input.selfId, { head, threshold: input.tau }));
      const scores = input.hidden.map((hidden) => mlpScore(input.net, hidden));
      const { signals, destinations } = decide(router, head, scores);
      expect(destinations).toEqual(expected.destination);
      signals.forEach((signal, i) =>
        expect(Math.abs((signal ?? NaN) - (expected.confidence[i] ?? NaN))).toBeLessThan(tolerance),
      );
    });
    covered.add(id);
  }
  type RouteInput = { selfId: number; tau?: number; confidence?: number[]; batchSize?: number };
  for (const { id, input, expected } of goldenVectors<RouteInput, { destination: number[] }>(
    'citer',
    'route',
  )) {
    it(id, () => {
      const router = citer(contextOf(input.selfId, { head, threshold: input.tau }));
      const scores = input.confidence ?? Array.from({ length: input.batchSize ?? 0 }, () => 0.5);
      expect(decide(router, head, scores).destinations).toEqual(expected.destination);
    });
    covered.add(id);
  }
});

describe('Co-LLM, golden vectors', () => {
  const { 'co-llm': head } = heads;
  interface RouteInput {
    selfId: number;
    eta: number;
    vocabRef?: number;
    logitsWithDeferralLast?: number[][];
    deferralHead?: { w: number[]; b: number };
    hidden?: number[][];
  }
  type RouteExpected = { deferProb: number[]; destination: number[]; baseTokenGreedy?: number[] };
  const vectors = goldenVectors<RouteInput, RouteExpected>('co-llm', 'route').filter(
    ({ id }) => id !== 'collm-lookahead-cut',
  );
  for (const { id, input, expected, tolerance = 0 } of vectors) {
    const { logitsWithDeferralLast: logits, deferralHead, hidden = [], eta } = input;
    const isClose = (signals: readonly (number | undefined)[]): void =>
      signals.forEach((signal, i) =>
        expect(Math.abs((signal ?? NaN) - (expected.deferProb[i] ?? NaN))).toBeLessThanOrEqual(tolerance),
      );
    it(id, () => {
      if (deferralHead) {
        const router = coLlm(contextOf(input.selfId, { head, threshold: eta }));
        const scores = hidden.map((row) => linearScore(deferralHead.w, deferralHead.b, row));
        const { signals, destinations } = decide(router, head, scores);
        expect(destinations).toEqual(expected.destination);
        isClose(signals);
        return;
      }
      const deferToken = (logits?.[0]?.length ?? 0) - 1;
      const router = coLlm(contextOf(input.selfId, { deferToken, threshold: eta }));
      const rows = (logits ?? []).map((row) => rowOf({ logits: doubles(row) }));
      expect(Array.from(router.route(rows))).toEqual(expected.destination);
      isClose(rows.map((row) => router.signal?.(row)));
      const { vocabRef = 0 } = input;
      expect((logits ?? []).map((row) => greedyToken(row, vocabRef))).toEqual(expected.baseTokenGreedy);
    });
    covered.add(id);
  }

  interface ComposeInput {
    deferralLogit: number;
    baseLogits: number[];
    assistantLogits: number[];
  }
  type ComposeExpected = {
    deferProb: number;
    mixture: number[];
    token: number;
    deferToken: number;
    baseToken: number;
  };
  for (const { id, input, expected, tolerance = 0 } of goldenVectors<ComposeInput, ComposeExpected>(
    'co-llm',
    'compose',
  )) {
    it.each(['head', 'token'])(`${id}, base with a deferral %s`, (kind) => {
      const deferToken = input.baseLogits.length;
      const source = kind === 'head' ? { head } : { deferToken };
      const options = { ...source, strategy: 'compose', threshold: 0 };
      const base = rowOf({
        ...listed(input.baseLogits),
        sampled: expected.baseToken,
        scores: { [head]: 1 / (1 + Math.exp(-input.deferralLogit)) },
        logits: doubles([...input.baseLogits, input.deferralLogit]),
      });
      const home = coLlm(contextOf(HOME, options));
      const guest = coLlm(contextOf(GUEST, options));
      expect(Array.from(home.route([base]))).toEqual([GUEST]);
      const { algo = {} } = home.send?.(viewOf([1, 2, 3]), GUEST, base) ?? {};
      expect(Math.abs(Number(algo['deferProb']) - expected.deferProb)).toBeLessThan(tolerance);
      const assistant = rowOf({ ...listed(input.assistantLogits), sampled: expected.deferToken, algo });
      expect(guest.choose?.(assistant)).toBe(expected.token);
      const { g = NaN, base: sent = { ids: [], probabilities: [] } } = fromFields(algo) ?? {};
      const mixture = compose(g, sent, shortList(assistant, assistant.logSumExp ?? NaN));
      expect([...mixture.keys()]).toEqual(expected.mixture.map((_, token) => token));
      [...mixture.values()].forEach((p, i) =>
        expect(Math.abs(p - (expected.mixture[i] ?? NaN))).toBeLessThan(tolerance),
      );
      // The default strategy writes the assistant's own token.
      expect('choose' in coLlm(contextOf(GUEST, source))).toBe(false);
    });
    covered.add(id);
  }
});

/** A row's list of all its tokens. */
function listed(logits: readonly number[]): Partial<RouteRow> {
  const order = [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0));
  return {
    topIds: Int32Array.from(order),
    topValues: doubles(order.map((id) => logits[id] ?? NaN)),
    logSumExp: logSumExp(logits),
  };
}

/** The token that the engine's sampler draws at temperature 0 among the first `vocabLimit` ids. */
function greedyToken(logits: readonly number[], vocabLimit: number): number {
  const { topIds, topValues } = listed(logits.slice(0, vocabLimit));
  const input = {
    topIds: topIds ?? new Int32Array(),
    topValues: topValues ?? new Float32Array(),
    logSumExp: logSumExp(logits),
    logitsWidth: logits.length,
    vocabLimit,
    readLogits: () => Float32Array.from(logits),
  };
  return sampleToken(input, rowOf().sampling, 0.5).token;
}

describe('R2R, CITER and Co-LLM in the throughput model', () => {
  const [vector] = goldenVectors<{ C: number[][] }, unknown>('r2r', 'throughput');
  covered.add(vector?.id ?? '');
  it.each([
    ['r2r', r2r],
    ['citer', citer],
    ['co-llm', coLlm],
  ] as [keyof typeof heads, RouterFactory][])('%s commits what C says', (name, factory) => {
    const options = { head: heads[name] };
    const committed = [HOME, GUEST].map((model) => {
      const router = factory(contextOf(model, options));
      return [1, 2].map((to) => (to === model || router.onHandoff === 'keep' ? 1 : 0));
    });
    // A guest never stays: that entry of C stands for nothing.
    expect(committed[0]).toEqual(vector?.input.C[0]);
    expect(committed[1]?.[0]).toBe(vector?.input.C[1]?.[0]);
    expect(factory(contextOf(GUEST, options)).route([rowOf(), rowOf()])).toEqual([HOME, HOME]);
  });
});

it('left out no vector but those of training, traces and look-ahead', () => {
  const elsewhere = [
    // replayed through the subservers
    'r2r-trace-back-to-back',
    'citer-trace',
    'collm-trace',
    // what training computes
    'r2r-labels',
    'r2r-calibrate-recall-0.95',
    'r2r-pos-weight',
    'citer-bce',
    'collm-marginal-likelihood',
    'collm-pseudo-labels',
    // a base that runs ahead: an option of the algorithm that is not offered
    'collm-lookahead-cut',
  ];
  expect([...covered, ...elsewhere].sort()).toEqual(goldenIds(['r2r', 'citer', 'co-llm']).sort());
});
