// tokenrail bench realtime (npm run bench:realtime): what the runtime costs, against the same system in virtual time.
import { SystemClock } from '../core/system-clock.ts';
import { resolveBroker } from '../transport/broker.ts';
import { machineFacts } from './ablation/report.ts';
import { number, parseFlags } from './ablation/settings.ts';
import { alignedTable } from './ablation/table.ts';
import { measureRealtime, type RealtimePolicy, type RealtimeRow } from './realtime/measure.ts';

const USAGE = `tokenrail bench realtime: processes over a real nats-server with simulated engines, against the same system in
virtual time (tokenrail simulate) at the measured hop. What is missing is what the runtime costs.

  --cases list        N:p, … (8:0.35,32:0.2)
  --scales list       factors on the step times 6 and 27.9 ms (5,1)
  --policies list     threshold (the best by prediction), auto (threshold,auto)
  --seconds s         measured time of each (120 at scale 5, in proportion below)
  --settle s          time before anything is counted: the default tries its candidates at first (60)
  --virtual-tokens n  tokens of each simulation (200000)
  --json              one JSON object

Goal: at least 95 % at scale 5. Exit code 1 if that is missed, or a request fails. About 20 minutes.
`;

const OPTIONS = {
  cases: { type: 'string', default: '8:0.35,32:0.2' },
  scales: { type: 'string', default: '5,1' },
  policies: { type: 'string', default: 'threshold,auto' },
  seconds: { type: 'string', default: '120' },
  settle: { type: 'string', default: '60' },
  'virtual-tokens': { type: 'string', default: '200000' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const GOAL = 0.95;
const GOAL_SCALE = 5;
/** At a smaller scale tokens come faster: as many in less time, but not less than this share of it. */
const LEAST_SHARE_OF_SECONDS = 0.5;

function casesOf(text: string): { concurrency: number; p: number }[] {
  return text.split(',').map((part) => {
    const [concurrency = '', p = ''] = part.split(':');
    return { concurrency: number('cases', concurrency, 1, 32, true), p: number('cases', p, 0.001, 0.999) };
  });
}

function policiesOf(text: string): RealtimePolicy[] {
  return text.split(',').map((name) => {
    if (name === 'threshold' || name === 'auto') return name;
    throw new Error(`--policies: expected threshold or auto, got "${name}"`);
  });
}

const rate = (value: number): string => value.toFixed(1);

function cells(row: RealtimeRow): string[] {
  const { concurrency, p, scale, policy, thresholds, hopMs, failures } = row;
  return [
    `N=${concurrency} p=${p} ×${scale}`,
    thresholds ? `${policy} ${thresholds.join(',')}` : policy,
    hopMs.toFixed(3),
    `${rate(row.tokensPerSecond)} ± ${rate(row.ci95)}`,
    row.drawnShare.toFixed(4),
    rate(row.correctedTokensPerSecond),
    rate(row.virtualTokensPerSecond),
    rate(row.virtualWithoutHop),
    `${(100 * row.share).toFixed(2)} %`,
    failures.length > 0 ? `FAILED ${failures.length}: ${failures[0]}` : '',
  ];
}

const HEAD = [
  'simulated engines',
  'policy',
  'hop ms',
  'measured tok/s',
  'drawn p',
  'corrected',
  'virtual',
  'virtual, hop 0',
  'share',
  '',
];

/** Runs the check of a command line. @returns the exit code */
export async function realtime(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const broker = await resolveBroker({ clock: new SystemClock() });
  const rows: RealtimeRow[] = [];
  try {
    if (broker.kind !== 'nats-server') throw new Error('bench realtime needs a nats-server on the PATH');
    for (const text of flags.scales.split(',')) {
      const scale = number('scales', text, 0.1, 100);
      for (const one of casesOf(flags.cases)) {
        for (const policy of policiesOf(flags.policies)) {
          const seconds = number('seconds', flags.seconds, 1, 36_000);
          const row = await measureRealtime({
            scenario: { ...one, scale },
            policy,
            natsUrl: broker.url,
            seconds: seconds * Math.max(LEAST_SHARE_OF_SECONDS, Math.min(1, scale / GOAL_SCALE)),
            settleSeconds: number('settle', flags.settle, 0, 600),
            virtualTokens: number('virtual-tokens', flags['virtual-tokens'], 1000, 1e8, true),
          });
          rows.push(row);
          process.stderr.write(`${cells(row).join('  ')}\n`);
        }
      }
    }
  } finally {
    await broker.stop();
  }
  const report = { machine: machineFacts('nats-server'), simulated: true, goal: GOAL, rows };
  process.stdout.write(
    `${flags.json ? JSON.stringify(report, null, 2) : alignedTable([HEAD, ...rows.map(cells)])}\n`,
  );
  const isMissed = rows.some(
    ({ scale, share, failures }) => failures.length > 0 || (scale >= GOAL_SCALE && share < GOAL),
  );
  return isMissed ? 1 : 0;
}
