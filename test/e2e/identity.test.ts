import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODES, References, RunningSetting, type Setting } from '../../bench/identity/run.ts';
import { loadProblems } from '../../bench/lib/problems.ts';
import { hasNatsServer } from '../helpers/nats-server.ts';

/** A part of `npm run bench:identity`, which runs 64 problems through every combination. */
const problems = loadProblems('test', 10);
const settings: Setting[] = [
  { broker: 'embedded', replicas: 2 },
  { broker: 'nats-server', replicas: 1 },
];

describe('the running system writes what the plain loop writes', () => {
  const references = new References();

  for (const setting of settings) {
    const isMissing = setting.broker === 'nats-server' && !hasNatsServer();
    describe.skipIf(isMissing)(`${setting.broker}, ${setting.replicas} replica(s) per model`, () => {
      let system: RunningSetting;

      beforeAll(async () => {
        system = await RunningSetting.start(setting);
      });

      afterAll(async () => {
        await system.stop();
      });

      for (const mode of MODES) {
        it(`${mode.name}, 10 problems at once`, async () => {
          const answers = await system.ask(problems, mode, problems.length);
          const { failures, tokens, guestTokens } = await references.compare(mode, answers);
          expect(failures).toEqual([]);
          expect(tokens).toBeGreaterThan(problems.length * 30);
          expect(guestTokens).toBeGreaterThan(problems.length);
          for (const { ids, tokensByModel } of answers) {
            const counted = Object.values(tokensByModel).reduce((sum, n) => sum + n, 0);
            expect(counted).toBe(ids.length);
          }
        });
      }
    });
  }
});
