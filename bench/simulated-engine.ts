// npm run bench:simulated-engine: how exactly simulated steps end in real time. The engine is the one that
// `tokenrail serve` runs for `engine: simulated`.
import { SystemClock } from '../core/system-clock.ts';
import { AlarmClock, createSimulatedEngine, SimulatedDevice } from '../engine/simulated/index.ts';
import { number, parseFlags } from './ablation/settings.ts';
import { alignedTable } from './ablation/table.ts';
import { quantile } from './handoff/statistics.ts';
import { runScript } from './lib/run-script.ts';

const USAGE = `How exactly simulated steps end in real time: steps back to back, each against its own deadline, and the whole chain
against the sum of its step times.

  --steps n   steps of each step time (300)
  --json      print one JSON object

Goal: a mean error of at most 1 %. Exit code 1 if it is missed.
`;

const OPTIONS = {
  steps: { type: 'string', default: '300' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const MAX_STEPS = 1_000_000;
/** The reference pair's step times, and five times as much. */
const STEP_MS = [6, 27.9, 30, 139.5];
const ROWS_PER_STEP = 8;
const GOAL = 0.01;
/** Until the alarm's thread has started and the process has compiled what it runs; not counted. */
const WARM_UP_MS = 1000;

interface Row {
  simulated: true;
  stepMs: number;
  /** Mean of (time of the step's end − intended) ÷ the step time, over all steps. */
  meanError: number;
  lateMs: { p50: number; p99: number };
  /** CPU time of the process ÷ elapsed time, alarm thread included. */
  cpuShare: number;
}

async function measure(stepMs: number, steps: number): Promise<Row> {
  const clock = new SystemClock();
  const alarm = new AlarmClock(clock);
  const engine = createSimulatedEngine(
    { modelId: 1, stepTime: { baseMs: stepMs } },
    { clock, device: new SimulatedDevice(alarm), onClose: () => alarm.close() },
  );
  await engine.start();
  const late: number[] = [];
  const step = (past: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const rows = Array.from({ length: ROWS_PER_STEP }, (_, seq) => ({
        seq,
        past,
        tokens: [past],
        sample: true,
        sampling: { temperature: 0, topP: 1, topK: -1, minP: 0, seed: seq },
      }));
      const startedMs = clock.nowMs();
      engine.step({ rows, needs: {} }, (outcome) => {
        late.push(clock.nowMs() - startedMs - stepMs);
        if (outcome.ok) resolve();
        else reject(outcome.error);
      });
    });
  const bornMs = clock.nowMs();
  let past = 0;
  for (; past === 0 || clock.nowMs() - bornMs < WARM_UP_MS; past += 1) await step(past);
  late.length = 0;
  const cpuBefore = process.cpuUsage();
  const startedMs = clock.nowMs();
  for (const end = past + steps; past < end; past += 1) await step(past);
  const elapsedMs = clock.nowMs() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  await engine.close();
  const meanLateMs = late.reduce((sum, ms) => sum + ms, 0) / late.length;
  const sorted = Float64Array.from(late).sort();
  return {
    simulated: true,
    stepMs,
    meanError: meanLateMs / stepMs,
    lateMs: { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) },
    cpuShare: (user + system) / 1000 / elapsedMs,
  };
}

function table(rows: readonly Row[]): string {
  const head = ['simulated step ms', 'mean error', 'late p50 ms', 'late p99 ms', 'CPU'];
  const cells = rows.map(({ stepMs, meanError, lateMs, cpuShare }) => [
    String(stepMs),
    `${(100 * meanError).toFixed(3)} %`,
    lateMs.p50.toFixed(3),
    lateMs.p99.toFixed(3),
    `${(100 * cpuShare).toFixed(0)} %`,
  ]);
  return alignedTable([head, ...cells]);
}

async function simulatedEngine(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const steps = number('steps', flags.steps, 1, MAX_STEPS, true);
  const rows: Row[] = [];
  for (const stepMs of STEP_MS) rows.push(await measure(stepMs, steps));
  process.stdout.write(`${flags.json ? JSON.stringify({ goal: GOAL, rows }, null, 2) : table(rows)}\n`);
  return rows.every(({ meanError }) => Math.abs(meanError) <= GOAL) ? 0 : 1;
}

await runScript(simulatedEngine);
