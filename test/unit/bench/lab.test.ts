import { expect, test } from 'vitest';
import { calibrate, overlapFactor, overlapShares, stepTable } from '../../../bench/lab/calibration.ts';
import { ClosedLoop } from '../../../bench/lab/closed-loop.ts';
import { Gate } from '../../../bench/lab/gate.ts';
import { emptyRun } from '../../../bench/lab/mode-run.ts';
import { PausableClock } from '../../../bench/lab/pausable-clock.ts';
import { SharedEngine } from '../../../bench/lab/shared-engine.ts';
import type { StepRecord } from '../../../bench/lab/step-record.ts';
import { fixedLengthWorkload } from '../../../bench/lab/workload.ts';
import type { BenchRequest } from '../../../bench/baselines/driver.ts';
import { ticksTo } from '../../../bench/plot/scale.ts';
import { candidatesOf } from '../../../bench/sweep/candidates.ts';
import type { StepOutcome } from '../../../engine/engine.ts';
import { ChainEngine } from '../../helpers/chain-engine.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const record = (startMs: number, endMs: number, fields: Partial<StepRecord> = {}): StepRecord => ({
  rows: 1,
  tokens: 1,
  startMs,
  endMs,
  runMs: 0,
  engineMs: 0,
  callbackMs: 0,
  publishMs: 0,
  gapMs: 0,
  handlerMs: 0,
  ...fields,
});

test('a clock that stands still keeps its timers for as long as they had left', () => {
  const base = new ManualClock();
  const clock = new PausableClock(base);
  const fired: number[] = [];
  clock.setTimer(10, () => fired.push(clock.nowMs()));
  const cancelled = clock.setTimer(12, () => fired.push(-1));
  base.advance(4);
  const before = clock.nowMs();
  clock.pause();
  base.advance(1000);
  expect(clock.nowMs()).toBe(before);
  cancelled.cancel();
  clock.setTimer(1, () => fired.push(clock.nowMs()));
  clock.resume();
  base.advance(5);
  expect(fired).toEqual([before + 1]);
  base.advance(1);
  expect(fired).toEqual([before + 1, before + 6]);
  base.advance(1000);
  expect(fired).toHaveLength(2);
});

test('a closed gate holds what comes, and tells when nothing is in flight', async () => {
  const gate = new Gate();
  const started: string[] = [];
  gate.pass(() => started.push('early'));
  expect(started).toEqual([]);
  gate.open();
  gate.pass(() => started.push('open'));
  expect(started).toEqual(['early', 'open']);
  gate.entered();
  let isClosed = false;
  const closing = gate.close().then(() => (isClosed = true));
  await Promise.resolve();
  expect(isClosed).toBe(false);
  gate.left();
  await closing;
  await gate.close();
});

test('shares of one engine do not see each other, and closing one frees its sequences alone', async () => {
  const clock = new ManualClock();
  const engine = new ChainEngine({ model: (tokens) => ({ token: tokens.length, entropy: 0 }), clock });
  const shared = await SharedEngine.start(engine);
  const gate = new Gate();
  gate.open();
  const [a, b] = [shared.share({ gate }), shared.share({ gate })];
  const sampling = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 };
  const outcomes: StepOutcome[] = [];
  const feed = (one: typeof a, tokens: number[]): void => {
    one.step({ rows: [{ seq: 1, past: 0, tokens, sample: true, sampling }], needs: {} }, (outcome) =>
      outcomes.push(outcome),
    );
    clock.advance(10);
  };
  feed(a, [1, 2, 3]);
  feed(b, [4, 5]);
  expect(outcomes.map((outcome) => outcome.ok && outcome.rows[0])).toMatchObject([
    { seq: 1, sampled: 3 },
    { seq: 1, sampled: 2 },
  ]);
  expect([...engine.kv.values()]).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
  await a.close();
  expect([...engine.kv.values()]).toEqual([[4, 5]]);
  expect(engine.isClosed).toBe(false);
});

test('overlap of steps, lone against overlapped times, and step times of sizes never seen', () => {
  const home = [record(0, 10), record(10, 20), record(30, 40)];
  expect(overlapShares(home, [record(5, 22)])).toEqual([0.5, 1, 0]);
  const steps = [
    ...Array.from({ length: 6 }, () => record(0, 10)),
    ...Array.from({ length: 6 }, () => record(0, 16)),
  ];
  const shares = steps.map((_, i) => (i < 6 ? 0 : 1));
  expect(overlapFactor([[steps, shares]])).toBeCloseTo(10 / 16);
  expect(overlapFactor([])).toBe(1);
  const sized = [1, 4].flatMap((rows) =>
    Array.from({ length: 5 }, () => record(0, 10 * rows, { rows, tokens: rows })),
  );
  expect(stepTable(sized, 6)).toEqual([10, 20, 30, 40, 40, 40]);
});

test('a calibration reads routing from rows and handoffs', () => {
  const run = emptyRun();
  for (let i = 0; i < 10; i += 1) {
    run.steps[0].push(record(40 * i, 40 * i + 6, { rows: 2, tokens: 2 }));
    run.steps[1].push(record(40 * i + 10, 40 * i + 38));
  }
  run.steps[0].push(record(500, 900, { rows: 2, tokens: 400 }));
  run.stats.guestTokens = 10;
  run.counters['handoffs_sent'] = 5;
  const spec = calibrate(run, 2);
  expect(spec.routing).toEqual([
    [0.75, 0.25],
    [0.5, 0.5],
  ]);
  expect(spec.stepMs).toEqual([
    [6, 6],
    [28, 28],
  ]);
});

test('a closed loop replaces what ends, and counts inside windows only', () => {
  const clock = new ManualClock();
  const submitted: BenchRequest[] = [];
  const driver = {
    name: 'test',
    start: () => Promise.resolve(),
    submit: (request: BenchRequest) => void submitted.push(request),
    close: () => Promise.resolve(),
  };
  const workload = fixedLengthWorkload({ promptTokens: 4, outputTokens: 10, vocabSize: 50 });
  const loop = new ClosedLoop(driver, workload, 2, clock);
  loop.fill();
  expect(submitted.map(({ tokens, maxTokens }) => [tokens.length, maxTokens])).toEqual([
    [6, 8],
    [11, 3],
  ]);
  loop.onTokens(0, [1], [1]);
  const { stats } = emptyRun();
  loop.begin(stats);
  clock.advance(10);
  loop.onTokens(0, [2, 3], [1, 2]);
  loop.onEnd(1);
  clock.advance(5);
  loop.onTokens(2, [1], [1]);
  clock.advance(5);
  loop.end(false);
  loop.onTokens(0, [4], [1]);
  expect(stats).toEqual({ seconds: 0.02, tokens: 3, guestTokens: 1, ttftMs: [5], itlMs: [5, 5], ended: 1 });
  expect(submitted[2]).toMatchObject({ id: 2, maxTokens: 10 });
  loop.begin(stats);
  clock.advance(10);
  loop.onTokens(0, [5], [1]);
  clock.advance(90);
  loop.end(true);
  expect(stats.seconds).toBeCloseTo(0.03);
  loop.onEnd(0, 'lost');
  expect(loop.failures).toEqual(['request 0: lost']);
  loop.close();
  loop.onEnd(2, 'stopped');
  expect(loop.failures).toHaveLength(1);
});

test('a sweep tries every B1 of few requests, and nothing that nobody could start under', () => {
  expect(candidatesOf(2)).toEqual([
    [1, 1],
    [1, 2],
    [2, 1],
  ]);
  expect(candidatesOf(8).filter(([home]) => home === 1)).toHaveLength(8);
  for (const concurrency of [1, 2, 4, 8, 16, 32]) {
    const all = candidatesOf(concurrency);
    expect(new Set(all.map(String)).size).toBe(all.length);
    for (const [home, guest] of all) expect(home - 1 + guest - 1).toBeLessThan(concurrency);
  }
});

test('axes end at or above the largest value', () => {
  expect(ticksTo(0)).toEqual([0, 1]);
  expect(ticksTo(10)).toEqual([0, 2, 4, 6, 8, 10]);
  for (const max of [0.003, 1, 7, 99, 1234]) {
    const top = ticksTo(max).at(-1) ?? 0;
    expect(top).toBeGreaterThanOrEqual(max * (1 - 1e-9));
    expect(top).toBeLessThan(2 * max);
  }
});
