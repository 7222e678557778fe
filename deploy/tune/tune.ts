import { makePlan } from '../../scheduling/planner/make-plan.ts';
import {
  bestThresholds,
  boundThroughput,
  lockstepThroughput,
  optimum,
  throughputOf,
  TooManyStatesError,
  type ChainSpec,
  type Throughput,
} from '../../scheduling/throughput-model.ts';
import { curvesAround, type Curve } from './curve.ts';

/** A prediction of the throughput model, in tokens per second over all requests. */
export interface Prediction {
  tokensPerSecond: number;
}

/** One way to schedule the system. */
export interface PredictedChoice extends Prediction {
  name: string;
  /** True where the prediction is simulated: its chain is too large to be solved exactly. */
  isSampled: boolean;
}

/** What `tokenrail tune --json` prints. All of it is computed by the model; nothing is measured. */
export interface TuneResult {
  best: Prediction & { thresholds: number[] };
  /** Absent where its chain is too large. */
  eager?: Prediction;
  lockstep: Prediction;
  bound: Prediction;
  /** The best of all policies; only for systems small enough. */
  optimum?: Prediction;
  /** What a deployment chooses by itself. */
  default: PredictedChoice;
  /** What it chooses from, best first. */
  candidates: PredictedChoice[];
  /** Best thresholds for each of a few numbers of requests alive. */
  table: { alive: number; thresholds: number[]; tokensPerSecond: number }[];
  /** Throughput over each guest's threshold, the others at their best. */
  curves: Curve[];
  /** States of the chain at the best thresholds. */
  states: number;
  /** Time that this took. */
  seconds: number;
}

/** Larger decision processes are not solved for the optimum: a few seconds. */
const MAX_OPTIMUM_NODES = 250_000;
/** The table has a row for each number of requests up to this one, a few beyond. */
const EACH_ALIVE_UP_TO = 16;

/**
 * Predicts what thresholds, the default and the baselines give.
 * @param nowMs a clock, for `seconds`
 * @throws TokenrailError `config_invalid` for a wrong specification; TooManyStatesError where even the best thresholds' chain
 *   is too large
 */
export function tune(spec: ChainSpec & { overlapFactor: number }, nowMs: () => number): TuneResult {
  const startedMs = nowMs();
  const best = bestThresholds(spec);
  const { thresholds, numStates } = best;
  const eager = whereSmall(() =>
    throughputOf(
      spec,
      spec.stepMs.map(() => 1),
    ),
  );
  const optimal = whereSmall(() => optimum(spec, { maxNodes: MAX_OPTIMUM_NODES }));
  const candidates = candidatesOf(spec);
  const table = aliveGrid(spec.concurrency).map((alive) => {
    const found = alive === spec.concurrency ? best : bestThresholds({ ...spec, concurrency: alive });
    return { alive, thresholds: found.thresholds, tokensPerSecond: found.tokensPerSecond };
  });
  return {
    best: { thresholds, tokensPerSecond: best.tokensPerSecond },
    ...(eager && { eager: prediction(eager) }),
    lockstep: { tokensPerSecond: lockstepThroughput(spec) },
    bound: { tokensPerSecond: boundThroughput(spec) },
    ...(optimal && { optimum: prediction(optimal) }),
    default: candidates[0] ?? {
      name: 'eager',
      tokensPerSecond: best.tokensPerSecond,
      isSampled: false,
    },
    candidates,
    table,
    curves: curvesAround(spec, best),
    states: numStates,
    seconds: (nowMs() - startedMs) / 1000,
  };
}

const prediction = ({ tokensPerSecond }: Throughput): Prediction => ({ tokensPerSecond });

/** Undefined where a chain would be too large. */
function whereSmall(solve: () => Throughput): Throughput | undefined {
  try {
    return solve();
  } catch (error) {
    if (error instanceof TooManyStatesError) return undefined;
    throw error;
  }
}

function candidatesOf(spec: ChainSpec & { overlapFactor: number }): TuneResult['candidates'] {
  const { routing, commits, overlapFactor, concurrency } = spec;
  const stepMs = spec.stepMs.map((table) => (typeof table === 'number' ? [table] : table));
  const system = { routing, commits, stepMs, overlapFactor, home: 1 };
  const { entries } = makePlan({ system, aliveMax: concurrency });
  const entry = entries.at(-1);
  return (entry?.candidates ?? []).map(({ name, tokensPerSecond, isSampled = false }) => {
    return { name, tokensPerSecond, isSampled };
  });
}

/** 1 … N up to {@link EACH_ALIVE_UP_TO}; above 1, 2, 3, 4, 6, 8, 12, 16, 24 … and N. */
export function aliveGrid(concurrency: number): number[] {
  if (concurrency <= EACH_ALIVE_UP_TO) return Array.from({ length: concurrency }, (_, i) => i + 1);
  const grid = [1];
  for (let power = 2; power < concurrency; power *= 2) grid.push(power, 1.5 * power);
  return [...grid.filter((alive) => alive < concurrency), concurrency];
}
