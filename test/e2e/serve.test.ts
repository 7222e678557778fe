import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasNatsServer } from '../helpers/nats-server.ts';
import { ask, openStream, post, question } from './support/ask.ts';
import type { Answer } from './support/ask.ts';
import { coloursOf, ESC, withoutColours } from './support/colours.ts';
import { Cli, endAll, root, runCli } from './support/cli.ts';
import { descendants, eventually } from './support/processes.ts';

let npm: Cli;
let url: string;
let supervisorPid: number;

// `npm start` itself, as the first user types it; the port is the only thing added.
beforeAll(async () => {
  npm = new Cli(['start', '--silent', '--', '--port', '0'], { command: ['npm'], cwd: root });
  const match = await npm.find('stdout', /ready at (http\S+)[^]*Ctrl-C/);
  url = match[1] ?? '';
  supervisorPid =
    descendants(npm.pid).find(({ command }) => /^\S*node .*bin\.mjs serve/.test(command))?.pid ?? 0;
});
afterAll(endAll);

function expectBothModels(answer: Answer): void {
  const { usage } = answer;
  const { tokens_by_model: byModel, handoffs, llm_ratio: ratio } = usage.tokenrail;
  const [small = 0, large = 0] = [byModel['small'], byModel['large']];
  expect(small).toBeGreaterThan(0);
  expect(large).toBeGreaterThan(0);
  expect(small + large).toBe(usage.completion_tokens);
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
  expect(ratio).toBeCloseTo(large / (small + large));
  expect(handoffs).toBeGreaterThan(0);
}

describe('npm start', () => {
  test('prints URL, broker, models, a line to copy and the NATS subject', () => {
    expect(npm.stdout).toMatch(/^broker: (nats-server|embedded broker) at nats:\/\/127\.0\.0\.1:\d+/m);
    expect(npm.stdout.includes('nats-server')).toBe(hasNatsServer());
    expect(npm.stdout).toMatch(/small: 468 k parameters.*home/);
    expect(npm.stdout).toMatch(/large: 2\.5 M parameters/);
    expect(npm.stdout).not.toContain('RANDOM');
    expect(npm.stdout).toContain('NATS subject for requests: tokenrail.requests');
  });

  test('the curl line it prints works as it stands, and both models wrote the answer', () => {
    const line = /^ {2}(curl .*)$/m.exec(npm.stdout)?.[1] ?? '';
    const output = execFileSync('sh', ['-c', line.replace('curl', 'curl -sS')], { encoding: 'utf8' });
    const answer = JSON.parse(output) as Answer;
    expect(answer.choices[0]?.message.content).toContain('The answer is 46.');
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expectBothModels(answer);
  });

  test('a stream gives the same text, and its usage says who wrote it', async () => {
    const whole = await ask(url);
    const stream = await openStream(url);
    await stream.over;
    expect(stream.isDone).toBe(true);
    expect(stream.text).toBe(whole.choices[0]?.message.content);
    expect(stream.finishReason).toBe('stop');
    expect(stream.chunks.length).toBeGreaterThan(20);
    expectBothModels({ choices: [], usage: stream.chunks.at(-1)?.usage as Answer['usage'] });
  });

  test.each([
    ['always-small', 0, 0],
    ['always-large', 1, 1],
  ])('the router a request names is the one that decides: %s', async (router, least, most) => {
    const { usage } = await ask(url, { router });
    expect(usage.tokenrail.llm_ratio).toBeGreaterThanOrEqual(least);
    expect(usage.tokenrail.llm_ratio).toBeLessThanOrEqual(most);
  });

  test('a second server on the same port says which one is taken, and loads nothing', async () => {
    const port = new URL(url).port;
    const { code, stdout, stderr } = await runCli(['serve', '--port', port]);
    expect(code).toBe(1);
    expect(stderr).toContain(`port_unavailable: cannot bind 127.0.0.1:${port}`);
    expect(stdout + stderr).not.toMatch(/serving|listens|is ready/);
  });

  test('doctor notices the server that runs already', async () => {
    const { code, stdout } = await runCli(['doctor', '--port', new URL(url).port]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^warn HTTP port: a tokenrail server holds/m);
    expect(stdout).toMatch(/\nIt works; see the warnings above\.\n$/);
  });
});

describe('tokenrail chat', () => {
  test('prints the answer alone into a pipe, without colours', async () => {
    const { code, stdout, stderr } = await runCli(['chat', '--url', url, question]);
    expect(code).toBe(0);
    expect(stdout).toBe(`${(await ask(url)).choices[0]?.message.content}\n`);
    expect(stdout + stderr).not.toContain(ESC);
    expect(stderr).toMatch(/small \d+ tokens \([\d.]+ %\), large \d+ tokens/);
  });

  test('colours each token by the model that wrote it', async () => {
    const { stdout } = await runCli(['chat', '--url', `${url}/v1`], {
      env: { FORCE_COLOR: '1' },
      input: `${question}\n`,
    });
    expect(coloursOf(stdout)).toHaveLength(2);
    expect(withoutColours(stdout)).toContain('The answer is 46.');
  });

  test('shows the error of the server, and exits with 1', async () => {
    const { code, stderr } = await runCli(['chat', '--url', url, '--router', 'nope', question]);
    expect(code).toBe(1);
    expect(stderr).toContain('invalid_request');
    expect(stderr).toContain('offered: r-stitch');
  });
});

test('SIGTERM: answers in work come to their end, new ones are refused, everything ends with exit code 0', async () => {
  const children = descendants(supervisorPid);
  expect(children.length).toBeGreaterThanOrEqual(4);
  const long = { ignore_eos: true, max_tokens: 300 };
  const streams = await Promise.all(Array.from({ length: 4 }, () => openStream(url, long)));
  await eventually(() => (streams.every(({ text }) => text !== '') ? true : undefined));
  process.kill(supervisorPid, 'SIGTERM');
  await npm.find('stderr', /finishing what runs/);
  await eventually(async () => {
    const late = await post(url, { max_tokens: 1 }).catch(() => undefined);
    return late === undefined || late.status === 503 ? true : undefined;
  });
  await Promise.all(streams.map(({ over }) => over));
  for (const stream of streams) {
    expect(stream.error).toBeUndefined();
    expect(stream).toMatchObject({ isDone: true, finishReason: 'length' });
    expect(stream.chunks.at(-1)?.usage?.completion_tokens).toBe(300);
  }
  expect(await npm.exited).toEqual({ code: 0, signal: null });
  expect(descendants(process.pid).filter(({ pid }) => children.some((child) => child.pid === pid))).toEqual(
    [],
  );
  expect(npm.stderr).not.toMatch(/ ERROR |Error:/);
});
