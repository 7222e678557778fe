import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { main } from '../../../deploy/cli/main.ts';

let [stdout, stderr] = ['', ''];
beforeEach(() => {
  [stdout, stderr] = ['', ''];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true));
});
afterEach(() => vi.restoreAllMocks());

it('"tokenrail bench" knows every benchmark that the page about them lists, and says what it does', async () => {
  expect(await main(['bench'])).toBe(0);
  const page = readFileSync('docs/benchmarks.md', 'utf8');
  const listed = [...page.matchAll(/^\| `([a-z-]+)` \|.*minutes?\b.* \|$/gm)].map(([, name]) => name ?? '');
  expect(listed.length).toBeGreaterThan(7);
  const known = /<([a-z|-]+)>/.exec(stdout)?.[1]?.split('|') ?? [];
  expect([...known].sort()).toEqual([...listed].sort());
  for (const name of known) expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'));
});

const NAMES = ['ablation', 'sweep', 'realtime', 'quality', 'identity', 'handoff', 'engine', 'heads'];

it.each(NAMES)('"tokenrail bench %s" explains its flags, and refuses others in one line', async (name) => {
  expect(await main(['bench', name, '--help'])).toBe(0);
  expect(stdout).toContain('--json');
  expect(await main(['bench', name, '--nonsense'])).toBe(2);
  expect(stderr).toMatch(/^tokenrail: config_invalid: [^\n]*--nonsense[^\n]*\n$/);
});

it.each([
  [['identity', '--router', 'nope'], '--router'],
  [['identity', '--router', 'r2r', '--all-algorithms'], '--router: excludes --all-algorithms'],
  [['identity', '--all-algorithms', '--policy', 'auto'], '--policy'],
  [['identity', '--policy', 'nope'], '--policy'],
  [['identity', '--heads', 'random'], '--heads'],
  [['identity', '--all-algorithms', '--heads', 'both'], '--heads'],
  [['identity', '--problems', '0'], '--problems'],
  [['identity', '--problems', '1e9'], '--problems'],
  [['heads', '--rounds', '0'], '--rounds'],
  [['heads', '--rows', '33'], '--rows'],
  [['heads', '--context', 'x'], '--context'],
  [['heads', '--threads', '1.5'], '--threads'],
  [['heads', '--quantization', 'int8'], '--quantization'],
  [['heads', '--model', 'large'], '--model'],
  [['engine', '--rows', '1'], '--rows'],
  [['engine', '--quantization', 'int8'], '--quantization'],
  [['handoff', '--rounds', '0'], '--rounds'],
  [['handoff', '--scale', '0'], '--scale'],
])('bench %j is refused in one line with exit code 2 under the name of the flag', async (args, name) => {
  expect(await main(['bench', ...args])).toBe(2);
  expect(stderr).toMatch(/^tokenrail: config_invalid: [^\n]*\n$/);
  expect(stderr).toContain(name);
  expect(stdout).toBe('');
});
