// npm run bench:drain: requests that nobody replaces, through the real actors in virtual time (simulated engines): the
// default against the best thresholds for each number of requests alive.
import { createPolicy, type PolicySpec } from '../scheduling/index.ts';
import {
  InlineSolver,
  makePlan,
  type Plan,
  type PlanProblem,
  type SystemSpec,
} from '../scheduling/planner/index.ts';
import { Simulation } from '../simulation/index.ts';
import { number, parseFlags } from './ablation/settings.ts';
import { runScript } from './lib/run-script.ts';
import { pair } from './policies/cases.ts';
import { thresholdTable } from './policies/threshold-table.ts';

const USAGE = `Simulated drains: 16 requests of 64 to 1,024 tokens that nobody replaces, through the real actors in virtual time. The
default beside the best thresholds for each number of requests alive.

  --p x             probability of a handoff after a home step (0.35)
  --seeds n         runs, each with the next seed (50)
  --first-seed n    seed of the first run (1)
  --no-thresholds   the default alone
  --json            print one JSON object

Exit code 1 if an answer differs from the expected one, or if a run hangs.
`;

const OPTIONS = {
  p: { type: 'string', default: '0.35' },
  seeds: { type: 'string', default: '50' },
  'first-seed': { type: 'string', default: '1' },
  'no-thresholds': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const MAX_SEEDS = 1_000_000;
const LAST_SEED = 2 ** 32 - 1;
const NUM_REQUESTS = 16;
const DRAIN = { numRequests: NUM_REQUESTS, minTokens: 64, maxTokens: 1024 };

interface DrainSettings {
  p: number;
  seeds: number;
  firstSeed: number;
  hasThresholds: boolean;
}

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

async function runOne(
  { routing, commits, stepMs }: SystemSpec,
  seed: number,
  policies: readonly PolicySpec[],
  total: Total,
): Promise<void> {
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
    drain: DRAIN,
  });
  const result = await simulation.run();
  total.tokens += result.tokens;
  total.seconds += result.virtualSeconds;
  total.mismatches += result.mismatches;
}

const empty = (): Total => ({ tokens: 0, seconds: 0, mismatches: 0 });
const rate = ({ tokens, seconds }: Total): number => tokens / seconds;

interface DrainReport {
  simulated: true;
  p: number;
  seeds: number;
  mismatches: number;
  defaultTokensPerSecond: number;
  thresholdsTokensPerSecond: number | null;
  gainPercent: number | null;
}

async function measure({ p, seeds, firstSeed, hasThresholds }: DrainSettings): Promise<DrainReport> {
  const system = pair(p);
  const [automatic, thresholds] = [empty(), empty()];
  const plan = makePlan({ system, aliveMax: NUM_REQUESTS });
  const tables = system.stepMs.map((_, model) => thresholdTable(plan, model));
  for (let done = 1; done <= seeds; done += 1) {
    const seed = firstSeed + done - 1;
    await runOne(system, seed, [{ kind: 'auto' }, { kind: 'auto' }], automatic);
    if (hasThresholds) await runOne(system, seed, tables, thresholds);
    if (done % 50 === 0) console.error(`${done} of ${seeds} seeds, ${plans.size} plans`);
  }
  return {
    simulated: true,
    p,
    seeds,
    mismatches: automatic.mismatches + thresholds.mismatches,
    defaultTokensPerSecond: rate(automatic),
    thresholdsTokensPerSecond: hasThresholds ? rate(thresholds) : null,
    gainPercent: hasThresholds ? 100 * (rate(automatic) / rate(thresholds) - 1) : null,
  };
}

function print({ p, seeds, mismatches, defaultTokensPerSecond, gainPercent }: DrainReport): void {
  const title = `Simulated drains of ${NUM_REQUESTS} requests, p ${p}, ${seeds} seeds`;
  console.log(`${title}: no hang, ${mismatches} mismatches.`);
  console.log(`default ${defaultTokensPerSecond.toFixed(1)} tokens/s`);
  if (gainPercent === null) return;
  const gain = `${gainPercent >= 0 ? '+' : ''}${gainPercent.toFixed(2)} %`;
  console.log(`against the best thresholds for each number alive: ${gain}`);
}

async function drain(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const report = await measure({
    p: number('p', flags.p, 0, 1),
    seeds: number('seeds', flags.seeds, 1, MAX_SEEDS, true),
    firstSeed: number('first-seed', flags['first-seed'], 0, LAST_SEED, true),
    hasThresholds: !flags['no-thresholds'],
  });
  if (flags.json) console.log(JSON.stringify(report));
  else print(report);
  return report.mismatches === 0 ? 0 : 1;
}

await runScript(drain);
