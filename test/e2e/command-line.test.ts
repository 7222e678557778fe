import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Cli, emptyPath, endAll, runCli } from './support/cli.ts';

afterAll(endAll);

test('npx tokenrail prints help', async () => {
  const { code, stdout } = await runCli([], { command: ['npx', '--no-install', 'tokenrail'] });
  expect(code).toBe(0);
  for (const command of ['serve', 'gateway', 'subserver', 'chat', 'demo', 'doctor', 'models']) {
    expect(stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
  }
});

test('an unknown flag is refused with exit code 2 and the nearest known one', async () => {
  const { code, stdout, stderr } = await runCli(['serve', '--prot', '1']);
  expect(stderr).toMatch(/config_invalid: unknown option '--prot'[^]*--port/);
  expect(stdout).toBe('');
  expect(code).toBe(2);
});

test('a router module that does not load, and options a router does not know, are named before anything starts', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tokenrail-cli-'));
  const config = join(dir, 'c.yaml');
  const refused = async (router: string): Promise<string> => {
    writeFileSync(config, `port: 0\nrouters: [${router}]\n`);
    const { code, stderr } = await runCli(['serve', '--config', config]);
    expect(code).toBe(2);
    return stderr;
  };
  expect(await refused('{id: mine, use: ./nowhere.ts}')).toContain('nowhere.ts');
  expect(await refused('{id: r-stitch, use: r-stitch, options: {treshold: 1}}')).toContain('treshold');
  rmSync(dir, { recursive: true });
});

test('a broker that does not answer is an error that names it, not a hang', async () => {
  const { code, stderr } = await runCli(['serve', '--port', '0', '--nats', 'nats://127.0.0.1:1']);
  expect(stderr).not.toContain('restarted'); // nothing was started that could only wait
  expect(code).toBe(1);
  expect(stderr).toContain('bus_unavailable');
  expect(stderr).toContain('127.0.0.1:1');
});

describe('doctor', () => {
  interface Report {
    ok: boolean;
    checks: { name: string; status: string; detail: string; fix?: string }[];
  }

  test('finds a machine in order, with the embedded broker where there is no other', async () => {
    const { code, stdout } = await runCli(['doctor', '--json', '--port', '0'], { env: { PATH: emptyPath } });
    const report = JSON.parse(stdout) as Report;
    expect(report.checks.filter(({ status }) => status === 'FAIL')).toEqual([]);
    expect(report.ok).toBe(true);
    expect(code).toBe(0);
    const detail = (name: string): string => report.checks.find((check) => check.name === name)?.detail ?? '';
    expect(detail('broker')).toMatch(/^embedded broker .* carries messages$/);
    expect(detail('model small')).toContain('Qwen3ForCausalLM, 940.9 kB');
    expect(detail('vocabularies')).toBe('small and large share 768 ids');
    expect(detail('engine')).toMatch(/steps in .* ms; KV cache: /);
  });

  test('names what fails and how to mend it, and exits with 1', async () => {
    const holder = createServer();
    await new Promise<void>((done) => holder.listen(0, '127.0.0.1', done));
    const { port } = holder.address() as AddressInfo;
    const args = [
      'doctor',
      '--port',
      String(port),
      '--models',
      'small=models/small,large=/nowhere',
      '--nats',
      'nats://127.0.0.1:1',
    ];
    const { code, stdout } = await runCli([...args, '--advanced-connect-timeout-ms', '300']);
    holder.close();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL HTTP port: .*already in use\n.*--port/m);
    expect(stdout).toMatch(/^FAIL model large: \/nowhere\/config\.json: does not exist\n.*mend it: /m);
    expect(stdout).toMatch(/^FAIL broker: .*127\.0\.0\.1:1/m);
    expect(stdout).toMatch(/^ok {3}model small: /m);
    expect(stdout).toMatch(/^ok {3}engine: small /m);
  });
});

test('without weights, every failure that doctor finds points at the files', async () => {
  const bare = mkdtempSync(join(tmpdir(), 'tokenrail-bare-'));
  for (const name of ['config.json', 'tokenizer.json', 'tokenizer_config.json'])
    copyFileSync(join('models', 'small', name), join(bare, name));
  const { code, stdout } = await runCli(['doctor', '--port', '0', '--models', `bare=${bare}`]);
  rmSync(bare, { recursive: true });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^FAIL model bare: .* has no \.safetensors file\n.*--load-format dummy/m);
  expect(stdout).toMatch(/^FAIL engine: .*\n.*mend the files of the models first/m);
  expect(stdout).not.toContain('npm ci');
});

test('serve --inline: every JSON line bears one name, and random weights are labelled once', async () => {
  const flags = ['--port', '0', '--load-format', 'dummy', '--log-format', 'json'];
  const serve = new Cli(['serve', '--inline', ...flags], { env: { PATH: emptyPath } });
  await serve.find('stdout', /Ctrl-C ends it/);
  serve.kill('SIGTERM');
  expect(await serve.exited).toEqual({ code: 0, signal: null });
  const lines = serve.stderr.trim().split('\n');
  expect(lines.map((line) => line.match(/"name":/g)?.length)).toEqual(lines.map(() => 1));
  expect(lines.map((line) => (JSON.parse(line) as { name: string }).name)).toEqual(
    expect.arrayContaining(['serve', 'small', 'large', 'gateway']),
  );
  expect(serve.stdout.match(/random weights/gi)).toHaveLength(2); // two models
});

test('chat without a server says how to get one', async () => {
  const { code, stderr } = await runCli(['chat', '--url', 'http://127.0.0.1:1', 'hello']);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /no server answers at http:\/\/127\.0\.0\.1:1; start one with "npx tokenrail serve"/,
  );
});
