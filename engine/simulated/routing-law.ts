import { TokenrailError } from '../../core/errors.ts';
import { uniform } from '../../core/random.ts';
import { BurstProcess, RenewalProcess, type LeaveProcess } from './leave-process.ts';
import {
  bimodalRuns,
  deterministicRuns,
  geometricRuns,
  heavyTailedRuns,
  type RunLengths,
} from './run-lengths.ts';

/** Laws of run lengths of the home, each with the mean 1 / `leave`. */
export const RUN_LENGTH_LAWS = ['geometric', 'deterministic', 'bimodal', 'bursty', 'heavy-tailed'] as const;
export type RunLengthLaw = (typeof RUN_LENGTH_LAWS)[number];

/**
 * How the signal of a row is drawn: a number u in [0, 1) that the router `simulated` maps to a destination.
 *
 * - `bernoulli`: independent at every position.
 * - `correlated`: at a position, with probability `rho` all requests share one draw, else each has its own.
 * - run-length laws: whether the home leaves (u < `leave`) follows a process over positions; where to stays independent.
 *   `leave` is the home's probability of leaving, 1 − P[home][home].
 */
export type RoutingLaw =
  { kind: 'bernoulli' } | { kind: 'correlated'; rho: number } | { kind: RunLengthLaw; leave: number };

/** The signal of one request's row at a position of its sequence, in [0, 1). */
export type RowSignal = (position: number) => number;

/** Tables of run lengths grow with the mean run: rarer handoffs than this are refused. */
const LEAST_LEAVE = 1e-4;

const COIN_STREAM = 0x60000;
const SHARED_STREAM = 0x70000;

const RUNS: Record<Exclude<RunLengthLaw, 'bursty'>, (mean: number) => RunLengths> = {
  geometric: geometricRuns,
  deterministic: deterministicRuns,
  bimodal: bimodalRuns,
  'heavy-tailed': heavyTailedRuns,
};

function independent(seed: number, modelId: number): RowSignal {
  return (position) => uniform({ seed, position, model: modelId, purpose: 'simulation' });
}

function correlated(rho: number, lawSeed: number, seed: number, modelId: number): RowSignal {
  const own = independent(seed, modelId);
  const shared = (position: number, stream: number): number =>
    uniform({ seed: lawSeed, position, model: modelId + stream, purpose: 'simulation' });
  return (position) =>
    shared(position, COIN_STREAM) < rho ? shared(position, SHARED_STREAM) : own(position);
}

function withLeaves(process: LeaveProcess, leave: number, seed: number, modelId: number): RowSignal {
  const own = independent(seed, modelId);
  return (position) =>
    process.leavesAt(position) ? own(position) * leave : leave + own(position) * (1 - leave);
}

/**
 * The law of one model: from a request's seed to the signal of its rows.
 * @param lawSeed seed of what requests share (`correlated`)
 * @throws TokenrailError `config_invalid`
 */
export function routingSignals(
  law: RoutingLaw,
  modelId: number,
  lawSeed: number,
): (seed: number) => RowSignal {
  if (law.kind === 'bernoulli') return (seed) => independent(seed, modelId);
  if (law.kind === 'correlated') {
    const { rho } = law;
    if (!(rho >= 0 && rho <= 1)) throw wrong('rho', rho);
    return (seed) => correlated(rho, lawSeed, seed, modelId);
  }
  const { kind, leave } = law;
  if (!(leave >= 0 && leave <= 1)) throw wrong('leave', leave);
  // Never or always: nothing is left to be distributed.
  if (leave === 0 || leave === 1) return (seed) => independent(seed, modelId);
  if (leave < LEAST_LEAVE)
    throw new TokenrailError(
      'config_invalid',
      `routing law: leave must be 0 or ≥ ${LEAST_LEAVE}, not ${leave}`,
      { param: 'leave' },
    );
  if (kind === 'bursty')
    return (seed) => withLeaves(new BurstProcess(leave, seed, modelId), leave, seed, modelId);
  const runs = RUNS[kind](1 / leave);
  return (seed) => withLeaves(new RenewalProcess(runs, seed, modelId), leave, seed, modelId);
}

function wrong(name: string, value: number): TokenrailError {
  return new TokenrailError('config_invalid', `routing law: ${name} must be in [0, 1], not ${value}`, {
    param: name,
  });
}
