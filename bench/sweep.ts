// tokenrail bench sweep (npm run bench:sweep): thresholds by measurement on real models, and what the runtime chooses.
import { writeFileSync } from 'node:fs';
import { ensureWritable } from '../deploy/output-file.ts';
import { integers, number, oneOf, parseFlags } from './ablation/settings.ts';
import { machineFacts } from './ablation/report.ts';
import { silentLogger } from '../core/log.ts';
import { Lab } from './lab/lab.ts';
import { pairOf, type PairName } from './lab/pairs.ts';
import { fixedLengthWorkload, problemWorkload } from './lab/workload.ts';
import { sweepOf } from './sweep/measure.ts';
import { sweepPage, type SweepReportPair } from './sweep/page.ts';
import { sweepTable } from './sweep/table.ts';

const USAGE = `tokenrail bench sweep: start thresholds by measurement on real models, beside what the runtime chooses by itself.

  --pairs list        embedded, dummy (embedded,dummy)
  --concurrency list  requests alive (2,4,8,16)
  --rounds n          turns per candidate (4)
  --final-rounds n    further turns of the best four and the default, which choose the best two (6)
  --verdict-rounds n  further turns of the best two and the default, on which the verdict rests: at least (20)
  --verdict-error e   … until the standard error of the share is no larger (0.01)
  --max-verdict n     … but no more (embedded 100, dummy 50)
  --seconds s         measured time of a turn (embedded 1, dummy 2)
  --settle s          time the default gets before it is measured (60)
  --threshold x       R-Stitch's threshold of the embedded pair (0.02)
  --p x               random router's probability of the dummy pair (0.2)
  --quantization q    none or int4: weights of the dummy pair (int4)
  --broker b          embedded or nats-server (embedded)
  --svg file          draws the page
  --json              one JSON object

Goal: the default reaches 97 % of the best at each. The machine should do nothing else; 60 to 90 minutes on 2 cores.
`;

const OPTIONS = {
  pairs: { type: 'string', default: 'embedded,dummy' },
  concurrency: { type: 'string', default: '2,4,8,16' },
  rounds: { type: 'string', default: '4' },
  'final-rounds': { type: 'string', default: '6' },
  'verdict-rounds': { type: 'string', default: '20' },
  seconds: { type: 'string' },
  'verdict-error': { type: 'string', default: '0.01' },
  'max-verdict': { type: 'string' },
  settle: { type: 'string', default: '60' },
  threshold: { type: 'string', default: '0.02' },
  p: { type: 'string', default: '0.2' },
  quantization: { type: 'string', default: 'int4' },
  broker: { type: 'string', default: 'embedded' },
  svg: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const TURN_SECONDS: Record<PairName, string> = { embedded: '1', dummy: '2' };
const MAX_VERDICT_ROUNDS: Record<PairName, string> = { embedded: '100', dummy: '50' };
const WARM_UP_SECONDS: Record<PairName, number> = { embedded: 0.15, dummy: 0.6 };
const DUMMY = { promptTokens: 64, outputTokens: 512, vocabSize: 49_152 };

type Flags = ReturnType<typeof parseFlags<typeof OPTIONS>>;

async function sweepPair(
  name: PairName,
  flags: Flags,
  log: (line: string) => void,
): Promise<SweepReportPair> {
  const pair = pairOf(name, {
    threshold: number('threshold', flags.threshold, 0, 1),
    p: number('p', flags.p, 0, 1),
    quantization: oneOf('quantization', flags.quantization, ['none', 'int4'] as const),
  });
  const levels = integers('concurrency', flags.concurrency, 32);
  const workload = name === 'embedded' ? problemWorkload(pair.models[0].dir) : fixedLengthWorkload(DUMMY);
  const seconds = number('seconds', flags.seconds ?? TURN_SECONDS[name], 0.1, 600);
  const lab = await Lab.open({
    pair,
    maxNumSeqs: Math.max(...levels),
    maxModelLenTokens: workload.maxLenTokens,
    numCores: 1, // both models run at the same time: one core each, and no engines that run alone
    broker: oneOf('broker', flags.broker, ['embedded', 'nats-server'] as const),
    logger: silentLogger,
  });
  const { label, hasRandomWeights } = pair;
  const report: SweepReportPair = { pair: name, label, hasRandomWeights, results: [] };
  log(`\n${label}\n${workload.description}`);
  try {
    for (const concurrency of levels) {
      log(`\n  ${concurrency} requests alive`);
      const result = await sweepOf({
        lab,
        workload,
        concurrency,
        turn: { warmUpSeconds: WARM_UP_SECONDS[name], seconds },
        rounds: number('rounds', flags.rounds, 2, 1000, true),
        finalRounds: number('final-rounds', flags['final-rounds'], 1, 1000, true),
        verdictRounds: number('verdict-rounds', flags['verdict-rounds'], 2, 1000, true),
        verdictError: number('verdict-error', flags['verdict-error'], 0, 1),
        maxVerdictRounds: number(
          'max-verdict',
          flags['max-verdict'] ?? MAX_VERDICT_ROUNDS[name],
          2,
          1000,
          true,
        ),
        settleSeconds: number('settle', flags.settle, 0, 600),
        log,
      });
      report.results.push(result);
      log(sweepTable(result));
    }
  } finally {
    await lab.close();
  }
  return report;
}

/** Runs the sweep of a command line. @returns the exit code: 1 if a request failed; the shares are for people to judge */
export async function sweep(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  ensureWritable('--svg', flags.svg);
  const stream = flags.json ? process.stderr : process.stdout;
  const log = (line: string): void => void stream.write(`${line}\n`);
  const pairs: SweepReportPair[] = [];
  for (const text of flags.pairs.split(','))
    pairs.push(await sweepPair(oneOf('pairs', text, ['embedded', 'dummy'] as const), flags, log));
  if (flags.svg !== undefined) writeFileSync(flags.svg, sweepPage(pairs));
  if (flags.json)
    process.stdout.write(`${JSON.stringify({ machine: machineFacts(flags.broker), pairs }, null, 2)}\n`);
  const isFine = pairs.every(({ results }) => results.every(({ failures }) => failures.length === 0));
  return isFine ? 0 : 1;
}
