// npm run bench:identity: is what the running system writes the same, token for token, as the plain loop's answer?
import { parseArgs } from 'node:util';
import { loadProblems } from './lib/problems.ts';
import { MODES, References, RunningSetting, type Setting } from './identity/run.ts';

const { values } = parseArgs({
  options: {
    policy: { type: 'string', default: 'eager' },
    problems: { type: 'string', default: '64' },
    json: { type: 'boolean', default: false },
  },
});

const problems = loadProblems('test', Number(values.problems));
const settings: Setting[] = (['embedded', 'nats-server'] as const).flatMap((broker) =>
  [1, 2].map((replicas) => ({ broker, replicas, policy: values.policy })),
);
const references = new References();
const rows: object[] = [];
let numFailures = 0;

for (const setting of settings) {
  const system = await RunningSetting.start(setting);
  try {
    for (const mode of MODES) {
      for (const concurrency of [1, 8, 32]) {
        const answers = await system.ask(problems, mode, concurrency);
        const { tokens, guestTokens, identical, excused, failures } = await references.compare(mode, answers);
        numFailures += failures.length;
        rows.push({
          ...setting,
          mode: mode.name,
          concurrency,
          problems: problems.length,
          tokens,
          identical,
          excused,
          failures,
        });
        if (!values.json) {
          const verdict = failures.length === 0 ? 'ok' : `FAILED ${JSON.stringify(failures)}`;
          const where = `${setting.broker}, ${setting.replicas} replica(s), ${mode.name}, concurrency ${concurrency}`;
          console.log(
            `${where}: ${identical}/${problems.length} identical, ${excused} within 1e-4, ${tokens} tokens (${guestTokens} by the large model): ${verdict}`,
          );
        }
      }
    }
  } finally {
    await system.stop();
  }
}
if (values.json) console.log(JSON.stringify(rows, null, 2));
process.exitCode = numFailures === 0 ? 0 : 1;
