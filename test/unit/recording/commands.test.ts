import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { main } from '../../../deploy/cli/main.ts';

let [stdout, stderr] = ['', ''];
beforeEach(() => {
  [stdout, stderr] = ['', ''];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true));
});
afterEach(() => vi.restoreAllMocks());

it.each([
  [['record', '--nats', 'nats://127.0.0.1:1'], '--out'],
  [['record', '--out', 'x.rec'], '--nats'],
  [['record', '--out', 'x.rec', '--requests', '0'], '--requests'],
  [['record', '--out', 'x.rec', '--seconds', 'x'], '--seconds'],
  [['serve', '--record', 'maybe'], '--record'],
  [['serve', '--record', 'on,top-k=0'], '--record'],
  [['replay', '--in', 'nowhere.rec'], '--in'],
  [['replay', '--in', '.'], '--in: .: EISDIR'],
  [['replay'], '--in'],
  [['replay', '--in', 'package.json'], 'package.json'],
])('%j is refused with exit code 2 under the name it was given', async (args, name) => {
  expect(await main(args)).toBe(2);
  expect(stderr).toMatch(/^tokenrail: config_invalid: /);
  expect(stderr).toContain(name);
  expect(stdout).toBe('');
});
