import type { SystemSpec } from '../../scheduling/planner/index.ts';
import type { RunLengthLaw } from '../../scheduling/throughput/sample.ts';

/** One system and number of requests on which policies are compared. */
export interface PolicyCase {
  name: string;
  system: SystemSpec;
  concurrency: number;
}

/** R2R as two models: a home step leaves with probability p and then commits nothing; a guest step commits and returns. */
export function pair(
  p: number,
  stepMs: readonly [number, number] = [6, 27.9],
  overlapFactor = 1,
): SystemSpec {
  return {
    routing: [
      [1 - p, p],
      [1, 0],
    ],
    commits: [
      [1, 0],
      [1, 0],
    ],
    stepMs: stepMs.map((ms) => [ms]),
    overlapFactor,
    home: 1,
  };
}

/** A cascade of three: the middle model passes a tenth of its visits on to the largest. */
export const cascade: SystemSpec = {
  routing: [
    [0.7, 0.2, 0.1],
    [0.9, 0, 0.1],
    [1, 0, 0],
  ],
  commits: [
    [1, 0, 0],
    [1, 0, 0],
    [1, 0, 0],
  ],
  stepMs: [[6], [12.3], [27.9]],
  overlapFactor: 1,
  home: 1,
};

/** The reference grid at φ = 1. */
export const gridCases: readonly PolicyCase[] = [2, 4, 8, 16].flatMap((concurrency) =>
  [0.05, 0.1, 0.2, 0.35, 0.5].map((p) => ({
    name: `N ${concurrency}, p ${p}`,
    system: pair(p),
    concurrency,
  })),
);

/** Where thresholds miss the phase, where models share a device, and three models. */
export const specialCases: readonly PolicyCase[] = [
  { name: 'N 8, p 0.35, L1 24.3', system: pair(0.35, [6, 24.3]), concurrency: 8 },
  { name: 'N 8, p 0.35, L1 30.3', system: pair(0.35, [6, 30.3]), concurrency: 8 },
  { name: 'N 8, p 0.35, φ 0.8', system: pair(0.35, [6, 27.9], 0.8), concurrency: 8 },
  { name: 'N 8, p 0.35, φ 0.66', system: pair(0.35, [6, 27.9], 0.66), concurrency: 8 },
  { name: 'N 8, p 0.35, φ 0.5', system: pair(0.35, [6, 27.9], 0.5), concurrency: 8 },
  { name: 'three models, N 4', system: cascade, concurrency: 4 },
];

/** What the chain does not know. */
export interface Stress {
  name: string;
  runLengths?: RunLengthLaw;
  jitter?: number;
  isDrain?: boolean;
}

export const stresses: readonly Stress[] = [
  { name: 'geometric' },
  { name: 'deterministic', runLengths: 'deterministic' },
  { name: 'bimodal', runLengths: 'bimodal' },
  { name: 'bursty', runLengths: 'bursty' },
  { name: 'heavy-tailed', runLengths: 'heavy-tailed' },
  { name: 'jitter 10 %', jitter: 0.1 },
  { name: 'jitter 30 %', jitter: 0.3 },
  { name: 'drain', isDrain: true },
];
