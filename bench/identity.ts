// tokenrail bench identity (npm run bench:identity): is what the running system writes the same, token for token, as the
// plain loop's answer?
import { AlgorithmIdentity } from './identity/algorithms.ts';
import type { Comparison } from './identity/compare.ts';
import { MAX_TOKENS, MODES, References, RunningSetting, type Setting } from './identity/run.ts';
import { readSettings, USAGE, type IdentitySettings } from './identity/settings.ts';
import { loadProblems, type Problem } from './lib/problems.ts';

type Report = (where: string, facts: object, comparison: Comparison) => void;

async function compareSettings(policy: string, problems: readonly Problem[], report: Report): Promise<void> {
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

async function compareAlgorithms(
  { algorithms, heads }: IdentitySettings,
  problems: readonly Problem[],
  report: Report,
): Promise<void> {
  const identity = await AlgorithmIdentity.start({ heads, maxTokens: MAX_TOKENS });
  try {
    for (const algorithm of algorithms) {
      for (const concurrency of [8, 32]) {
        const comparison = await identity.compare(algorithm, problems, concurrency);
        const where = `${algorithm} (${heads} networks), concurrency ${concurrency}`;
        report(where, { algorithm, heads, concurrency }, comparison);
      }
    }
  } finally {
    await identity.stop();
  }
}

/** Runs the check of a command line. @returns the exit code: 1 if an answer differs and no rounding explains it */
export async function identity(args: readonly string[]): Promise<number> {
  const settings = readSettings(args);
  if (settings === undefined) {
    process.stdout.write(USAGE);
    return 0;
  }
  const problems = loadProblems('test', settings.numProblems);
  const rows: object[] = [];
  let numFailures = 0;
  const report: Report = (where, facts, comparison) => {
    const { tokens, guestTokens, identical, excused, failures } = comparison;
    numFailures += failures.length;
    rows.push({ ...facts, problems: problems.length, ...comparison });
    if (settings.json) return;
    const verdict = failures.length === 0 ? 'ok' : `FAILED ${JSON.stringify(failures)}`;
    const counts = `${identical}/${problems.length} identical, ${excused} within 1e-4`;
    const written = `${tokens} tokens (${guestTokens} not by the small model)`;
    process.stdout.write(`${where}: ${counts}, ${written}: ${verdict}\n`);
  };
  if (settings.algorithms.length === 0) await compareSettings(settings.policy, problems, report);
  else await compareAlgorithms(settings, problems, report);
  if (settings.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  return numFailures === 0 ? 0 : 1;
}
