import type { SampledServer } from './sampled-server.ts';

export interface SampledThroughput {
  tokensPerSecond: number;
  /** Standard error of it, from batch means; 0 for a drain, which is one batch. */
  standardError: number;
  /** Rows of a step on average, per model. */
  meanRows: number[];
  /** Time from becoming ready to the start of the step, per model, in milliseconds: mean, 99th percentile, longest. */
  admissionDelayMs: number[];
  p99AdmissionMs: number[];
  longestDelayMs: number[];
  /** Share of the time during which a replica runs, per model. */
  utilisation: number[];
  tokens: number;
  /** Time that the measured part took in the simulation. */
  simulatedMs: number;
}

/** Tokens committed so far, and when. */
export interface Mark {
  tokens: number;
  atMs: number;
}

export function summarize(
  servers: readonly SampledServer[],
  marks: readonly Mark[],
  numModels: number,
): SampledThroughput {
  const [first, last] = [marks[0], marks.at(-1)];
  const tokens = (last?.tokens ?? 0) - (first?.tokens ?? 0);
  const simulatedMs = (last?.atMs ?? 0) - (first?.atMs ?? 0);
  const perModel = byModel(servers, numModels);
  const overRows = (of: (server: SampledServer) => number) =>
    perModel.map((group) =>
      ratio(
        sum(group, (s) => of(s) * s.delays.count),
        sum(group, (s) => s.delays.count),
      ),
    );
  const largest = (of: (server: SampledServer) => number) =>
    perModel.map((group) => Math.max(...group.map(of)));
  return {
    tokensPerSecond: ratio(1000 * tokens, simulatedMs),
    standardError: errorOf(marks),
    meanRows: perModel.map((group) =>
      ratio(
        sum(group, (s) => s.numRows),
        sum(group, (s) => s.numSteps),
      ),
    ),
    admissionDelayMs: overRows((server) => server.delays.meanMs()),
    p99AdmissionMs: largest((server) => server.delays.quantileMs(0.99)),
    longestDelayMs: largest((server) => server.delays.largestMs),
    utilisation: perModel.map((group) =>
      ratio(
        sum(group, (s) => s.busyMs),
        simulatedMs * group.length,
      ),
    ),
    tokens,
    simulatedMs,
  };
}

function byModel(servers: readonly SampledServer[], numModels: number): SampledServer[][] {
  return Array.from({ length: numModels }, (_, model) => servers.filter((server) => server.model === model));
}

/** Standard error of the mean rate over the batches between the marks. */
function errorOf(marks: readonly Mark[]): number {
  const rates: number[] = [];
  for (let i = 1; i < marks.length; i += 1) {
    const [before, after] = [marks[i - 1], marks[i]];
    if (before && after) rates.push(ratio(1000 * (after.tokens - before.tokens), after.atMs - before.atMs));
  }
  if (rates.length < 2) return 0;
  const mean = sum(rates, (rate) => rate) / rates.length;
  const variance = sum(rates, (rate) => (rate - mean) ** 2) / (rates.length - 1);
  return Math.sqrt(variance / rates.length);
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}

const ratio = (a: number, b: number): number => (b > 0 ? a / b : 0);
