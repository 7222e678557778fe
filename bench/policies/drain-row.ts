import { createPolicy, type PolicySpec, type StartPolicy } from '../../scheduling/index.ts';
import { entryFor, makePlan, type Plan } from '../../scheduling/planner/index.ts';
import { samplePolicies } from '../../scheduling/throughput/sample.ts';
import type { PolicyCase } from './cases.ts';
import { thresholdTable } from './threshold-table.ts';

export interface DrainRow {
  case: string;
  /** Simulated tokens per second of the best thresholds for each number alive, from the first token to the last. */
  thresholdsTokensPerSecond: number;
  /** Simulated gain over them in percent: following a plan, and looking ahead without one. */
  planGainPercent: number;
  lookAheadGainPercent: number;
}

const DRAIN = { minTokens: 64, maxTokens: 1024 };
const NUM_SEEDS = 60;

/** Does what the plan says for the requests alive now. */
function follow(plan: Plan): StartPolicy {
  const made = new Map<PolicySpec, StartPolicy>();
  return {
    name: 'plan',
    decide: (view) => {
      const spec = entryFor(plan, view.alive)?.candidates[0]?.policies[view.self - 1] ?? { kind: 'eager' };
      const policy = made.get(spec) ?? createPolicy(spec);
      made.set(spec, policy);
      return policy.decide(view);
    },
  };
}

/** Requests of 64 to 1,024 tokens, none of them replaced. The plan must have an entry for each number alive. */
export function drainRow({ name, system, concurrency }: PolicyCase): DrainRow {
  const plan = makePlan({ system, aliveMax: concurrency });
  const { routing, commits, stepMs } = system;
  const rate = (policies: readonly StartPolicy[]): number => {
    let tokens = 0;
    let simulatedMs = 0;
    for (let seed = 1; seed <= NUM_SEEDS; seed += 1) {
      const sample = samplePolicies({ routing, commits, stepMs, concurrency, drain: DRAIN }, policies, {
        seed,
      });
      tokens += sample.tokens;
      simulatedMs += sample.simulatedMs;
    }
    return (1000 * tokens) / simulatedMs;
  };
  const base = rate(stepMs.map((_, model) => createPolicy(thresholdTable(plan, model))));
  const [planned, ahead] = [follow(plan), createPolicy({ kind: 'look-ahead' })];
  return {
    case: name,
    thresholdsTokensPerSecond: base,
    planGainPercent: 100 * (rate(stepMs.map(() => planned)) / base - 1),
    lookAheadGainPercent: 100 * (rate(stepMs.map(() => ahead)) / base - 1),
  };
}
