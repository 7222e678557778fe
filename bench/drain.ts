// npm run bench:drain: requests that nobody replaces, through the real actors in virtual time (simulated engines): the
// default against the best thresholds for each number of requests alive. A hang ends the run with exit code 1.
import { parseArgs } from 'node:util';
import { createPolicy, type PolicySpec } from '../scheduling/index.ts';
import { InlineSolver, makePlan, type Plan, type PlanProblem } from '../scheduling/planner/index.ts';
import { Simulation } from '../simulation/index.ts';
import { pair } from './policies/cases.ts';
import { thresholdTable } from './policies/threshold-table.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '50' },
    'first-seed': { type: 'string', default: '1' },
    p: { type: 'string', default: '0.35' },
    'no-thresholds': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const NUM_REQUESTS = 16;
const drain = { numRequests: NUM_REQUESTS, minTokens: 64, maxTokens: 1024 };
const system = pair(Number(values.p));

const plans = new Map<string, Plan>();

/** One plan serves all runs with nearly the same estimates: planning anew would take most of the time. */
function planOnce(problem: PlanProblem): Plan {
  const nearly = (share: number): number => Math.round(share * 50) / 50;
  const routing = problem.system.routing.map(([stay = 0]) => [nearly(stay), 1 - nearly(stay)]);
  const stepMs = problem.system.stepMs.map((row) => row.map((ms) => Math.round(ms * 10) / 10));
  const rounded = { ...problem, system: { ...problem.system, routing, stepMs, jitter: [0, 0] } };
  const key = JSON.stringify(rounded);
  const plan = plans.get(key) ?? makePlan(rounded);
  plans.set(key, plan);
  return plan;
}

interface Total {
  tokens: number;
  seconds: number;
  mismatches: number;
}

async function runOne(seed: number, policies: readonly PolicySpec[], total: Total): Promise<void> {
  const { routing, commits, stepMs } = system;
  const simulation = new Simulation({
    seed,
    matrices: { routing, commits },
    models: stepMs.map(([baseMs = 1], i) => ({
      stepTime: { baseMs },
      policy: () => createPolicy(policies[i] ?? { kind: 'auto' }),
    })),
    concurrency: NUM_REQUESTS,
    totalTokens: 100,
    network: { hopMs: 0 },
    solver: (clock) => new InlineSolver(clock, planOnce),
    drain,
  });
  const result = await simulation.run();
  total.tokens += result.tokens;
  total.seconds += result.virtualSeconds;
  total.mismatches += result.mismatches;
}

const empty = (): Total => ({ tokens: 0, seconds: 0, mismatches: 0 });
const rate = ({ tokens, seconds }: Total): number => tokens / seconds;
const [automatic, thresholds] = [empty(), empty()];
const plan = makePlan({ system, aliveMax: NUM_REQUESTS });
const tables = system.stepMs.map((_, model) => thresholdTable(plan, model));
const first = Number(values['first-seed']);
const numSeeds = Number(values.seeds);
for (let seed = first; seed < first + numSeeds; seed += 1) {
  await runOne(seed, [{ kind: 'auto' }, { kind: 'auto' }], automatic);
  if (!values['no-thresholds']) await runOne(seed, tables, thresholds);
  if (seed % 50 === 0) console.error(`${seed - first + 1} of ${numSeeds} seeds, ${plans.size} plans`);
}
const report = {
  simulated: true,
  p: Number(values.p),
  seeds: numSeeds,
  mismatches: automatic.mismatches + thresholds.mismatches,
  defaultTokensPerSecond: rate(automatic),
  thresholdsTokensPerSecond: values['no-thresholds'] ? null : rate(thresholds),
  gainPercent: values['no-thresholds'] ? null : 100 * (rate(automatic) / rate(thresholds) - 1),
};
if (values.json) console.log(JSON.stringify(report));
else {
  console.log(
    `Simulated drains of ${NUM_REQUESTS} requests, p ${values.p}, ${numSeeds} seeds: no hang, ${report.mismatches} mismatches.`,
  );
  console.log(`default ${report.defaultTokensPerSecond.toFixed(1)} tokens/s`);
  if (report.gainPercent !== null)
    console.log(
      `against the best thresholds for each number alive: ${report.gainPercent >= 0 ? '+' : ''}${report.gainPercent.toFixed(2)} %`,
    );
}
process.exitCode = report.mismatches === 0 ? 0 : 1;
