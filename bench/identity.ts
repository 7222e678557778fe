// npm run bench:identity: is what the running system writes the same, token for token, as the plain loop's answer?
import { parseArgs } from 'node:util';
import {
  ALGORITHMS,
  AlgorithmIdentity,
  hasTrainedHeads,
  type Algorithm,
  type Heads,
} from './identity/algorithms.ts';
import type { Comparison } from './identity/compare.ts';
import { loadProblems } from './lib/problems.ts';
import { MAX_TOKENS, MODES, References, RunningSetting, type Setting } from './identity/run.ts';

const USAGE = `Is what the running system writes the same, token for token and writer for writer, as the answer of a plain
loop: one request at a time, no batches, no messages? Without --router or --all-algorithms: R-Stitch over both brokers,
1 and 2 replicas, greedy and sampled, at concurrency 1, 8 and 32.

  --router NAME     one algorithm with three models, at concurrency 8 and 32: ${ALGORITHMS.join(', ')}
  --all-algorithms  all of them
  --heads KIND      trained or random networks (trained where models/routers has them, else random)
  --problems n      problems (64)
  --policy P        start policy of the run without --router (eager)
  --json            print one JSON array

Exit code 1 if an answer differs where no decision was within 1e-4.
`;

const { values } = parseArgs({
  options: {
    router: { type: 'string' },
    'all-algorithms': { type: 'boolean', default: false },
    heads: { type: 'string', default: hasTrainedHeads() ? 'trained' : 'random' },
    policy: { type: 'string', default: 'eager' },
    problems: { type: 'string', default: '64' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const problems = loadProblems('test', Number(values.problems));
const rows: object[] = [];
let numFailures = 0;

function report(where: string, facts: object, comparison: Comparison): void {
  const { tokens, guestTokens, identical, excused, failures } = comparison;
  numFailures += failures.length;
  rows.push({ ...facts, problems: problems.length, ...comparison });
  if (values.json) return;
  const verdict = failures.length === 0 ? 'ok' : `FAILED ${JSON.stringify(failures)}`;
  console.log(
    `${where}: ${identical}/${problems.length} identical, ${excused} within 1e-4, ${tokens} tokens (${guestTokens} not by the small model): ${verdict}`,
  );
}

async function compareSettings(policy: string): Promise<void> {
  const settings: Setting[] = (['embedded', 'nats-server'] as const).flatMap((broker) =>
    [1, 2].map((replicas) => ({ broker, replicas, policy })),
  );
  const references = new References();
  for (const setting of settings) {
    const system = await RunningSetting.start(setting);
    try {
      for (const mode of MODES) {
        for (const concurrency of [1, 8, 32]) {
          const answers = await system.ask(problems, mode, concurrency);
          const where = `${setting.broker}, ${setting.replicas} replica(s), ${mode.name}, concurrency ${concurrency}`;
          const facts = { ...setting, mode: mode.name, concurrency };
          report(where, facts, await references.compare(mode, answers));
        }
      }
    } finally {
      await system.stop();
    }
  }
}

async function compareAlgorithms(algorithms: readonly Algorithm[], heads: Heads): Promise<void> {
  const identity = await AlgorithmIdentity.start({ heads, maxTokens: MAX_TOKENS });
  try {
    for (const algorithm of algorithms) {
      for (const concurrency of [8, 32]) {
        const comparison = await identity.compare(algorithm, problems, concurrency);
        report(
          `${algorithm} (${heads} networks), concurrency ${concurrency}`,
          { algorithm, heads, concurrency },
          comparison,
        );
      }
    }
  } finally {
    await identity.stop();
  }
}

function chosenHeads(): Heads {
  if (values.heads === 'trained' || values.heads === 'random') return values.heads;
  throw new Error(`--heads must be trained or random, found ${values.heads}`);
}

function chosenAlgorithms(): readonly Algorithm[] {
  if (values['all-algorithms']) return ALGORITHMS;
  const found = ALGORITHMS.filter((one) => one === values.router);
  if (found.length === 1 || values.router === undefined) return found;
  throw new Error(`--router must be one of ${ALGORITHMS.join(', ')}, found ${values.router}`);
}

if (values.help) {
  process.stdout.write(USAGE);
} else {
  const algorithms = chosenAlgorithms();
  if (algorithms.length === 0) await compareSettings(values.policy);
  else await compareAlgorithms(algorithms, chosenHeads());
  if (values.json) console.log(JSON.stringify(rows, null, 2));
  process.exitCode = numFailures === 0 ? 0 : 1;
}
