import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Ends before anything is measured, or the test's time limit does it. */
function run(script: string, args: readonly string[]): { code: number | null; out: string; err: string } {
  const command = ['--import', 'tsx', `bench/${script}.ts`, ...args];
  const result = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8', timeout: 50_000 });
  return { code: result.status, out: result.stdout, err: result.stderr };
}

const WRONG: readonly [script: string, flag: string][] = [
  ['drain', '--nope'],
  ['drain', '--seeds=-1'],
  ['drain', '--first-seed=1.5'],
  ['drain', '--p=NaN'],
  ['policies', '--nope'],
  ['policies', '--tokens=-1'],
  ['simulated-engine', '--nope'],
  ['simulated-engine', '--steps=0'],
];

describe('a benchmark that is a script of its own', () => {
  it.each(WRONG)('%s %s: one line that names the flag, exit code 2', (script, flag) => {
    const { code, out, err } = run(script, [flag]);
    expect(err).toMatch(/^tokenrail: config_invalid: [^\n]*\n$/);
    expect(err).toContain(flag.split('=')[0]);
    expect([code, out]).toEqual([2, '']);
  });

  it('says in one line too that a value may be taken for a flag', () => {
    const { code, err } = run('drain', ['--seeds', '-1']);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^tokenrail: config_invalid: [^\n]*--seeds[^\n]*\n$/),
    ]);
  });

  it.each(['drain', 'policies', 'simulated-engine'])('%s --help explains every flag', (script) => {
    const { code, out, err } = run(script, ['--help']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^ {2}--json /m);
  });
});
