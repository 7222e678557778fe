import { afterAll, expect, test } from 'vitest';
import { ask } from './support/ask.ts';
import { coloursOf, ESC, withoutColours, writtenIn } from './support/colours.ts';
import { Cli, emptyPath, endAll, root, startServer } from './support/cli.ts';
import { descendants, eventually, untilGone } from './support/processes.ts';

afterAll(endAll);

test('npm run demo: coloured answers of both models, a legend, the totals; exit code 0 and nothing left behind', async () => {
  const demo = new Cli(['run', 'demo', '--silent'], {
    command: ['npm'],
    cwd: root,
    env: { FORCE_COLOR: '1' },
  });
  const pids = await eventually(() => {
    const found = descendants(demo.pid).map(({ pid }) => pid);
    return found.length >= 5 ? found : undefined;
  });
  expect(await demo.exited).toEqual({ code: 0, signal: null });
  const { stdout } = demo;
  const [small = '', large = '', ...others] = coloursOf(stdout);
  expect(others).toEqual([]);
  const legend = `written by: ${ESC}[${small}msmall${ESC}[0m  ${ESC}[${large}mlarge${ESC}[0m`;
  expect(stdout.split(legend)).toHaveLength(3);
  expect(writtenIn(stdout, small).length).toBeGreaterThan(500);
  expect(writtenIn(stdout, large).length).toBeGreaterThan(30);
  const [, tokens, share, right] =
    /^(\d+) tokens in [\d.]+ s: \d+ tokens\/s; ([\d.]+) % of them by the large model, \d+ handoffs; (\d) of 6 right$/m.exec(
      stdout,
    ) ?? [];
  expect(Number(tokens)).toBeGreaterThan(300);
  expect(Number(share)).toBeGreaterThan(2);
  expect(Number(share)).toBeLessThan(40);
  expect(Number(right)).toBeGreaterThanOrEqual(4);
  expect(withoutColours(stdout).split('The answer is').length - 1).toBe(6);
  await untilGone(pids);
});

test('without colours the tokens of the other model stand in brackets; with the embedded broker as well', async () => {
  const demo = new Cli(['demo', '--num-problems', '2'], { env: { PATH: emptyPath } });
  expect(await demo.exited).toEqual({ code: 0, signal: null });
  expect(demo.stdout).not.toContain(ESC);
  expect(demo.stdout).toMatch(/\[[A-Za-z ]+\]/);
  expect(demo.stdout).toMatch(/^2 problems at once; written by: small, \[in brackets\] by another model$/m);
});

test('serve --inline answers from one process, over the embedded broker', async () => {
  const { cli, url } = await startServer(['--inline'], { env: { PATH: emptyPath } });
  expect(cli.stdout).toMatch(/^broker: embedded broker at nats:.*\n {2}limits: .*no JetStream/m);
  // The TypeScript loader may have its compiler's process beside.
  expect(descendants(cli.pid).filter(({ command }) => !command.includes('esbuild'))).toEqual([]);
  const { usage } = await ask(url);
  expect(Object.keys(usage.tokenrail.tokens_by_model).sort()).toEqual(['large', 'small']);
  cli.kill('SIGTERM');
  expect(await cli.exited).toEqual({ code: 0, signal: null });
});
