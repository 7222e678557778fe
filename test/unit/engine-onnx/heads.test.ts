import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ARCHITECTURE,
  classifierTensors,
  linearHeadTensors,
  mlpTensors,
  writeHeadFile,
  type ClassifierNet,
  type HeadTensors,
  type MlpNet,
} from '../../helpers/head-files.ts';
import { openScoringHead, type HeadRow } from '../../helpers/head-scores.ts';
import { classifierScore, linearScore, mlpScore } from '../../helpers/reference-heads.ts';
import { goldenVectors } from '../routers/golden.ts';
import { scratchDir } from './helpers/checkpoints.ts';

/** A loaded head over an embedding matrix; what the model's run would have left is given per call. */
function headOf(
  tensors: HeadTensors,
  architecture: string,
  embedding: number[][],
  topKWidth: number,
): (rows: readonly HeadRow[]) => number[] {
  const file = writeHeadFile(join(scratchDir(), 'head.safetensors'), tensors, { architecture });
  const head = openScoringHead(file, architecture, embedding, topKWidth);
  onTestFinished(() => head.close());
  return (rows) => head.score(rows);
}

const descending = (values: readonly number[]): number[] => [...values].sort((a, b) => b - a);

describe('R2R’s network, golden vectors', () => {
  interface Input {
    net: ClassifierNet & { topk: number };
    embeddings: number[][];
    cases: { hidden: number[]; token: number; logits: number[] }[];
  }
  interface Expected {
    results: { topLogits: number[]; routerLogit: number; divergentProb: number }[];
  }
  for (const { id, input, expected, tolerance = 0 } of goldenVectors<Input, Expected>(
    'r2r',
    'router-forward',
  )) {
    it(id, () => {
      const { net, embeddings, cases } = input;
      const score = headOf(classifierTensors(net), ARCHITECTURE.classifier, embeddings, 5);
      const rows = cases.map(({ hidden, token, logits }) => ({
        hidden,
        topValues: descending(logits),
        sampled: token,
      }));
      score(rows).forEach((value, i) => {
        const wanted = expected.results[i];
        expect(rows[i]?.topValues.slice(0, net.topk)).toEqual(wanted?.topLogits);
        expect(Math.abs(value - (wanted?.divergentProb ?? NaN))).toBeLessThan(tolerance);
        expect(Math.log(value / (1 - value))).toBeCloseTo(wanted?.routerLogit ?? NaN, 5);
      });
      // The double-precision reference that other tests compare with is itself held to the vector.
      cases.forEach(({ hidden, token }, i) => {
        const top = (rows[i]?.topValues ?? []).slice(0, net.topk);
        const reference = classifierScore(net, hidden, embeddings[token] ?? [], top);
        expect(reference).toBeCloseTo(expected.results[i]?.divergentProb ?? NaN, 6);
      });
    });
  }
});

describe('CITER’s network, golden vectors', () => {
  interface Input {
    net: MlpNet;
    hidden: number[][];
  }
  for (const { id, input, expected, tolerance = 0 } of goldenVectors<Input, { confidence: number[] }>(
    'citer',
    'router-forward',
  )) {
    it(id, () => {
      const score = headOf(mlpTensors(input.net), ARCHITECTURE.mlp, [[0, 0]], 2);
      const values = score(input.hidden.map((hidden) => ({ hidden, topValues: [0, 0], sampled: 0 })));
      values.forEach((value, i) => expect(value).toBeCloseTo(expected.confidence[i] ?? NaN, 6));
      input.hidden.forEach((hidden, i) =>
        expect(Math.abs(mlpScore(input.net, hidden) - (expected.confidence[i] ?? NaN))).toBeLessThan(
          tolerance,
        ),
      );
    });
  }
});

describe('Co-LLM’s deferral head, golden vectors', () => {
  interface Input {
    deferralHead: { w: number[]; b: number };
    hidden: number[][];
  }
  const [vector] = goldenVectors<Input, { deferProb: number[] }>('co-llm', 'route').filter(
    ({ id }) => id === 'collm-route-head',
  );
  it('collm-route-head', () => {
    const { deferralHead, hidden } = vector?.input ?? { deferralHead: { w: [], b: 0 }, hidden: [] };
    const score = headOf(
      linearHeadTensors(deferralHead.w, deferralHead.b),
      ARCHITECTURE.linear,
      [[0, 0, 0]],
      2,
    );
    const values = score(hidden.map((row) => ({ hidden: row, topValues: [0, 0], sampled: 0 })));
    expect(values.length).toBe(3);
    values.forEach((value, i) => {
      const wanted = vector?.expected.deferProb[i] ?? NaN;
      expect(value).toBeCloseTo(wanted, 6);
      expect(Math.abs(linearScore(deferralHead.w, deferralHead.b, hidden[i] ?? []) - wanted)).toBeLessThan(
        1e-12,
      );
    });
  });
});

it('a NaN among a row’s inputs is a NaN score of that row alone', () => {
  const score = headOf(linearHeadTensors([1, 1], 0), ARCHITECTURE.linear, [[0, 0]], 2);
  const row = (hidden: number[]) => ({ hidden, topValues: [0, 0], sampled: 0 });
  expect(score([row([0, 0]), row([NaN, 0]), row([0, 0])])).toEqual([0.5, NaN, 0.5]);
});
