import type { ModelId } from '../../core/request.ts';
import type { StartPolicy } from '../policy.ts';
import { completeSpec, modelError, stepMsOf, type ChainSpec, type CompleteSpec } from './chain-spec.ts';
import { introduce, sampledServer, type SampledServer } from './sample/sampled-server.ts';
import { SampledRequests } from './sample/sampled-requests.ts';
import { SampledSystem } from './sample/sampled-system.ts';
import { summarize, type SampledThroughput } from './sample/summary.ts';
import type { RunLengthLaw } from './sample/run-lengths.ts';

export type { RunLengthLaw } from './sample/run-lengths.ts';
export type { SampledThroughput } from './sample/summary.ts';

/** The chain's specification, and what only a sample can do. Times are rounded to microseconds, not to ticks. */
export interface SampleSpec extends ChainSpec {
  /** Replicas per model; a request stays with the ones it was given. Default one each. */
  replicas?: readonly number[];
  /** Relative standard deviation of the step times, per model (normal, cut at a tenth of the mean). Default 0. */
  jitter?: readonly number[];
  /** Default 1. */
  home?: ModelId;
  /** Law of the home steps in a row. Default geometric: each row by itself, as in the chain. */
  runLengths?: RunLengthLaw;
  /** Requests of these many tokens, none of them replaced: the sample ends with the last. */
  drain?: { minTokens: number; maxTokens: number };
}

export interface SampleOptions {
  /** Tokens to commit while measuring; as many again times `warmUp` before. Default 50,000. No meaning with `drain`. */
  tokens?: number;
  /** Default 0.1. */
  warmUp?: number;
  /** Same seed, same requests. Default 1. */
  seed?: number;
}

const NUM_BATCHES = 25;
/** More instants than this without a token mean that a policy lets nothing happen. */
const MAX_IDLE_INSTANTS = 100_000;

/**
 * The throughput of the system under one policy per model by a discrete-event simulation of the same model as the chain's
 * (same order at an epoch, same policy objects): for systems whose chain is too large, and for what the chain does not
 * know: quantiles of delays, jitter, run lengths, replicas, draining. Simulated results.
 *
 * @throws TokenrailError `config_invalid` for a wrong specification, also one that never commits a token
 */
export function samplePolicies(
  spec: SampleSpec,
  policies: readonly StartPolicy[],
  options: SampleOptions = {},
): SampledThroughput {
  const { tokens = 50_000, warmUp = 0.1, seed = 1 } = options;
  const complete = { ...spec, ...completeSpec(spec) };
  const servers = serversOf(complete, policies);
  const home = (spec.home ?? 1) - 1;
  const {
    routing,
    commits,
    concurrency,
    overlapFactor,
    runLengths = 'geometric',
    drain,
    jitter = [],
  } = complete;
  const requests = new SampledRequests({ routing, home, runLengths, seed, lengths: drain }, concurrency);
  const seats = seatsOf(servers, concurrency, commits.length);
  const order = [...servers].sort(
    (a, b) => Number(b.model === home) - Number(a.model === home) || a.index - b.index,
  );
  let committed = 0;
  const onCommit = (count: number): void => {
    committed += count;
  };
  const parts = { servers: order, requests, commits, overlapFactor, jitter, seed, seats, onCommit };
  const system = new SampledSystem(parts);
  for (let request = 0; request < concurrency; request += 1) system.enqueue(request, home);
  const runTo = (target: number): void => run(system, target, () => committed);
  if (!drain) runTo(warmUp * tokens);
  const marks = [{ tokens: committed, atMs: system.nowMs }];
  for (const server of servers) forget(server);
  for (let batch = 1; batch <= (drain ? 1 : NUM_BATCHES); batch += 1) {
    runTo(drain ? Infinity : (warmUp + batch / NUM_BATCHES) * tokens);
    marks.push({ tokens: committed, atMs: system.nowMs });
  }
  return summarize(servers, marks, commits.length);
}

/** Runs until `target` tokens are committed or nobody is alive. */
function run(system: SampledSystem, target: number, committed: () => number): void {
  let idle = 0;
  while (committed() < target && system.numAlive > 0) {
    const before = committed();
    system.decide();
    if (!system.advance()) throw modelError('nothing happens any more');
    idle = committed() === before ? idle + 1 : 0;
    if (idle > MAX_IDLE_INSTANTS) throw modelError('no tokens are committed');
  }
}

function serversOf(spec: CompleteSpec & SampleSpec, policies: readonly StartPolicy[]): SampledServer[] {
  const { stepMs, replicas = [], maxNumSeqs, home = 1, jitter = [], overlapFactor, routing } = spec;
  if (policies.length !== stepMs.length)
    throw modelError(`${policies.length} policies for ${stepMs.length} models`);
  const servers: SampledServer[] = [];
  for (const [model, policy] of policies.entries()) {
    const table = stepMs[model] ?? 1;
    for (let replica = 0; replica < (replicas[model] ?? 1); replica += 1)
      servers.push(
        sampledServer({
          ...{ index: servers.length, model, home, policy, overlapFactor },
          ...{ maxNumSeqs: maxNumSeqs[model] ?? Infinity, jitter: jitter[model] ?? 0 },
          stepMs: (rows) => stepMsOf(table, rows),
        }),
      );
  }
  introduce(servers, (from, to) => (routing[from]?.[to] ?? 0) / (replicas[to] ?? 1));
  return servers;
}

/** Gives each request one server per model, by turns. */
function seatsOf(servers: readonly SampledServer[], concurrency: number, numModels: number): SampledServer[] {
  const seats: SampledServer[] = [];
  for (let request = 0; request < concurrency; request += 1)
    for (let model = 0; model < numModels; model += 1) {
      const replicas = servers.filter((server) => server.model === model);
      // Shifted by model, so that those who share a home do not all share a guest.
      const server = replicas[(request + model * Math.floor(request / replicas.length)) % replicas.length];
      if (!server) throw modelError(`model ${model + 1} has no replicas`);
      server.alive += 1;
      seats.push(server);
    }
  return seats;
}

/** What was counted before does not count. */
function forget(server: SampledServer): void {
  server.numSteps = 0;
  server.numRows = 0;
  server.busyMs = 0;
  server.delays.clear();
}
