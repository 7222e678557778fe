import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { main } from '../../../deploy/cli/main.ts';

const written = { stdout: '', stderr: '' };
beforeEach(() => {
  for (const name of ['stdout', 'stderr'] as const) {
    written[name] = '';
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    });
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe('what is refused with exit code 2, under the name it was given', () => {
  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['an unknown flag', ['serve', '--prot', '1'], {}, /config_invalid: unknown option '--prot'[^]*--port/],
    ['an unknown command', ['sevre'], {}, /config_invalid: unknown command 'sevre'[^]*serve/],
    ['a wrong value', ['serve', '--port', 'x'], {}, /config_invalid: --port: /],
    ['an unknown variable', ['serve'], { TOKENRAIL_PROT: '1' }, /TOKENRAIL_PROT.*TOKENRAIL_PORT/],
    ['a gateway without a broker', ['gateway'], {}, /config_invalid: --nats: /],
    [
      'a subserver without a model',
      ['subserver', '--nats', 'nats://127.0.0.1:1'],
      {},
      /required option '--model/,
    ],
    [
      'an unknown model',
      ['subserver', '--nats', 'nats://127.0.0.1:1', '--model', 'x'],
      {},
      /"x" is not one of small, large/,
    ],
    ['an unknown router', ['serve', '--port', '0', '--router', 'rstich'], {}, /did you mean "r-stitch"/],
  ])('%s', async (_name, args, env, message) => {
    for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
    expect(await main(args)).toBe(2);
    expect(written.stderr).toMatch(message);
    expect(written.stdout).toBe('');
  });

  test.each([
    [['--version'], /^\d+\.\d+\.\d+\n$/],
    [['help', 'serve'], /--max-num-seqs/],
    [[], /Commands:/],
  ])('what is asked for goes to standard output: %j', async (args, message) => {
    expect(await main(args)).toBe(0);
    expect(written.stdout).toMatch(message);
    expect(written.stderr).toBe('');
  });
});

test('tokenrail models says where weights are missing', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tokenrail-bare-'));
  for (const name of ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'])
    copyFileSync(join('models', 'small', name), join(dir, name));
  expect(await main(['models', '--models', `bare=${dir}`])).toBe(0);
  rmSync(dir, { recursive: true });
  expect(written.stdout).toMatch(/^1 {2}bare .* NO WEIGHTS/m);
});

test('tokenrail models lists what is configured', async () => {
  expect(await main(['models', '--json', '--load-format', 'dummy'])).toBe(0);
  expect(JSON.parse(written.stdout)).toMatchObject([
    { id: 1, name: 'small', architecture: 'Qwen3ForCausalLM', vocabSize: 768, hasRandomWeights: true },
    { id: 2, name: 'large' },
  ]);
  written.stdout = '';
  expect(await main(['models'])).toBe(0);
  expect(written.stdout).toMatch(/^1 {2}small {2}Qwen3ForCausalLM, home, 940\.9 kB$/m);
});
