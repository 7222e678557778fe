import { describe, expect, it } from 'vitest';
import { createPolicy } from '../../scheduling/index.ts';
import { throughputOf } from '../../scheduling/throughput-model.ts';
import { simulate } from '../../simulation/index.ts';

interface Case {
  name: string;
  stepMs: number[];
  routing: number[][];
  concurrency: number;
  thresholds: number[];
  overlapFactor?: number;
  totalTokens: number;
}

const pair = (p: number): number[][] => [[1 - p, p], [1, 0]]; // prettier-ignore

const cases: Case[] = [
  {
    name: 'one request',
    stepMs: [6, 27.9],
    routing: pair(0.35),
    concurrency: 1,
    thresholds: [1, 1],
    totalTokens: 1500,
  },
  {
    name: 'eager',
    stepMs: [6, 27.9],
    routing: pair(0.35),
    concurrency: 8,
    thresholds: [1, 1],
    totalTokens: 6000,
  },
  {
    name: 'thresholds',
    stepMs: [6, 27.9],
    routing: pair(0.35),
    concurrency: 8,
    thresholds: [1, 5],
    totalTokens: 8000,
  },
  {
    name: 'ties: one step time four times the other',
    stepMs: [6, 24],
    routing: pair(0.35),
    concurrency: 8,
    thresholds: [1, 1],
    totalTokens: 6000,
  },
  {
    name: 'one device',
    stepMs: [6, 27.9],
    routing: pair(0.35),
    concurrency: 8,
    thresholds: [3, 6],
    overlapFactor: 0.66,
    totalTokens: 8000,
  },
  {
    name: 'a cascade of three',
    stepMs: [6, 12.3, 27.9],
    routing: [[0.7, 0.2, 0.1], [0.9, 0, 0.1], [1, 0, 0]], // prettier-ignore
    concurrency: 4,
    thresholds: [1, 1, 1],
    totalTokens: 6000,
  },
];

/** Of the real actors' throughput, in standard errors. */
const TOLERANCE = 3.5;

/**
 * The runtime schedules as the throughput model says: all completions of an instant first, then the decisions. What
 * started a step too early or too late, or made one more (a prefill, a first contact), would be seen here by percents.
 */
describe('the real actors have the throughput of the exact model', () => {
  it.each(cases)(
    '$name',
    async ({ stepMs, routing, concurrency, thresholds, overlapFactor = 1, totalTokens }) => {
      const commits = routing.map((row) => row.map((_, j) => (j === 0 ? 1 : 0)));
      const exact = throughputOf({ routing, commits, stepMs, concurrency, overlapFactor }, thresholds);
      const run = await simulate({
        models: stepMs.map((baseMs, i) => ({
          stepTime: { baseMs },
          policy: () => createPolicy({ kind: 'threshold', threshold: thresholds[i] }),
        })),
        matrices: { routing, commits },
        concurrency,
        totalTokens,
        overlapFactor,
        seed: 1,
      });
      expect(run.mismatches).toBe(0);
      expect(run.ci95 / run.tokensPerSecond).toBeLessThan(0.015);
      const deviation = Math.abs(run.tokensPerSecond - exact.tokensPerSecond);
      expect(deviation).toBeLessThan((TOLERANCE * run.ci95) / 2 + 1e-4 * exact.tokensPerSecond);
      run.meanRows.forEach((rows, i) => expect(rows / (exact.meanRows[i] ?? NaN)).toBeCloseTo(1, 1));
      run.utilisation.forEach((share, i) => expect(share).toBeCloseTo(exact.utilisation[i] ?? NaN, 1));
    },
  );
});
