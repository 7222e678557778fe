import { afterAll, expect, test } from 'vitest';
import type { TuneResult } from '../../deploy/tune/tune.ts';
import { endAll, runCli } from './support/cli.ts';

afterAll(endAll);

const REFERENCE = ['tune', '--step-ms', '6.0,27.9', '--p', '0.35', '--concurrency', '8'];

test('tune --json agrees with the reference case', async () => {
  const { code, stdout } = await runCli([...REFERENCE, '--json']);
  expect(code).toBe(0);
  const result = JSON.parse(stdout) as TuneResult;
  const near = (value: number | undefined, wanted: number): void =>
    expect(Math.abs((value ?? 0) / wanted - 1)).toBeLessThan(0.0005);
  expect(result.best.thresholds).toEqual([1, 5]);
  near(result.best.tokensPerSecond, 399.05);
  near(result.eager?.tokensPerSecond, 369.21);
  near(result.lockstep.tokensPerSecond, 242.34);
  near(result.bound.tokensPerSecond, 8000 / (6 + 0.35 * 27.9));
  near(result.optimum?.tokensPerSecond, 399.05 * 1.0117);
  expect(result.default.tokensPerSecond).toBeGreaterThan(399.05 * 0.997);
  expect(result.default).toEqual(result.candidates[0]);
  expect(result.candidates.filter(({ isSampled }) => isSampled)).toEqual([]); // a small chain: all exact
  expect(result.table.map(({ alive }) => alive)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(result.table[1]).toMatchObject({ alive: 2, thresholds: [1, 2] });
  expect(result.table[7]).toEqual({ alive: 8, ...result.best });
  expect(result.states).toBe(51);
  expect(result.seconds).toBeGreaterThan(0);
});

test('tune prints a page with the curve', async () => {
  const { code, stdout } = await runCli([...REFERENCE, '--overlap-factor', '0.66']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^2 models, steps of 6 \/ 27.9 ms, 8 requests alive, a shared device/);
  expect(stdout).toMatch(/^best thresholds +3, 6 +380\.5\d tokens\/s$/m);
  expect(stdout).toMatch(/^eager +256\.\d\d tokens\/s +−32\.\d %$/m);
  expect(stdout).toMatch(/^ +6 +380\.\d\d █+ ◀$/m);
  expect(stdout).toMatch(/Predicted by the throughput model, not measured/);
});

test.each([
  [['tune', '--p', '0.3'], '--step-ms'],
  [['tune', '--step-ms', '6,27.9', '--p', '2'], '--p'],
  [[...REFERENCE, '--overlap-factor', '0'], '--overlap-factor'],
  [[...REFERENCE, '--quantum-ms', '-1'], '--quantum-ms'],
  [[...REFERENCE, '--quantum-ms', '7'], '--quantum-ms'], // a step of 6 ms would be one of 7
  [[...REFERENCE, '--quantum-ms', '1e-9'], '--quantum-ms'],
  [['tune', '--step-ms', '0.01,6000', '--p', '0.3'], '--step-ms'],
  [[...REFERENCE, '--concurrency', '1.5'], '--concurrency'],
  [[...REFERENCE, '--concurrency', '1e6'], '--concurrency'],
  [[...REFERENCE, '--concurency', '2'], '--concurency'],
])('tune refuses %j', async (args, flag) => {
  const { code, stdout, stderr } = await runCli(args);
  expect(stderr).toMatch(/^tokenrail: config_invalid: /);
  expect(stderr).toContain(flag);
  expect(stdout).toBe('');
  expect(code).toBe(2);
});
