import { describe, expect, it } from 'vitest';
import { throughputOf, type ChainSpec } from '../../../scheduling/throughput-model.ts';
import { cascade, numbers, pair } from './support/chain-systems.ts';

interface Server {
  /** When each of its waiting requests came. */
  since: number[];
  running: number;
  endsAt: number;
  steps: number;
  rows: number;
  waitedTicks: number;
  busyTicks: number;
}

const lengthOf = (table: number | readonly number[], rows: number): number =>
  10 * (typeof table === 'number' ? table : (table[rows - 1] ?? table.at(-1) ?? 0));

/** The same system request by request, in whole ticks of 0.1 ms, without contention. */
function simulate(
  spec: ChainSpec,
  thresholds: readonly number[],
  epochs: number,
): Server[] & { now: number } {
  const next = numbers(3);
  const servers = spec.stepMs.map((): Server => ({
    since: [],
    running: 0,
    endsAt: Infinity,
    steps: 0,
    rows: 0,
    waitedTicks: 0,
    busyTicks: 0,
  }));
  servers[0]?.since.push(...new Array<number>(spec.concurrency).fill(0));
  let now = 0;
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    for (const [i, server] of servers.entries()) {
      if (server.running > 0 || server.since.length < (thresholds[i] ?? 1)) continue;
      server.running = server.since.length;
      for (const since of server.since) server.waitedTicks += now - since;
      server.since = [];
      const length = Math.round(lengthOf(spec.stepMs[i] ?? 0, server.running));
      server.endsAt = now + length;
      server.steps += 1;
      server.rows += server.running;
      server.busyTicks += length;
    }
    now = Math.min(...servers.map(({ endsAt }) => endsAt));
    const ending = [...servers.entries()].filter(([, { endsAt }]) => endsAt === now);
    for (const [i, server] of ending) {
      for (let row = 0; row < server.running; row += 1) {
        let draw = next();
        const to = (spec.routing[i] ?? []).findIndex((p) => (draw -= p) < 0);
        servers[to < 0 ? 0 : to]?.since.push(now);
      }
      server.running = 0;
      server.endsAt = Infinity;
    }
  }
  return Object.assign(servers, { now });
}

describe('delays, rows and utilisation', () => {
  it.each([
    ['thresholds', pair(0.35, 6), [1, 3]],
    ['ties of multiples', pair(0.3, 5, { stepMs: [6, 24] }), [2, 2]],
    [
      'step times by rows',
      pair(0.3, 4, {
        stepMs: [
          [4, 5, 6, 7],
          [10, 14, 21],
        ],
      }),
      [1, 2],
    ],
    ['three models', cascade([0.2, 0.1, 0.1], 4), [1, 1, 2]],
  ] as const)('agree with a simulation: %s', (_, spec, thresholds) => {
    const found = throughputOf(spec, thresholds);
    const servers = simulate(spec, thresholds, 120_000);
    servers.forEach(({ rows, steps, waitedTicks, busyTicks }, i) => {
      expect(found.meanRows[i]).toBeCloseTo(rows / steps, 1);
      expect(found.utilisation[i]).toBeCloseTo(busyTicks / servers.now, 2);
      const delayMs = waitedTicks / rows / 10;
      expect(Math.abs((found.admissionDelayMs[i] ?? 0) - delayMs)).toBeLessThan(0.05 + 0.01 * delayMs);
    });
    const tokensPerSecond = (1e4 * servers.reduce((sum, { rows }, i) => {
      const commits = (spec.routing[i] ?? []).reduce((all, p, j) => all + p * (spec.commits[i]?.[j] ?? 0), 0);
      return sum + rows * commits;
    }, 0)) / servers.now; // prettier-ignore
    expect(Math.abs(found.tokensPerSecond / tokensPerSecond - 1)).toBeLessThan(0.01);
  });

  it('are zero for a model that nobody asks', () => {
    const found = throughputOf(pair(0, 3), [1, 1]);
    expect(found.meanRows).toEqual([3, 0]);
    expect(found.utilisation).toEqual([1, 0]);
    expect(found.admissionDelayMs).toEqual([0, 0]);
    expect(found.tokensPerSecond).toBeCloseTo(500, 9);
  });

  it('keep to the largest step', () => {
    const found = throughputOf(pair(0, 6, { maxNumSeqs: [4, 4] }), [1, 1]);
    expect(found.meanRows[0]).toBe(4);
    expect(found.tokensPerSecond).toBeCloseTo(4000 / 6, 6);
    expect(found.admissionDelayMs[0]).toBeCloseTo(3, 9); // two of six wait for a step, four start
  });
});
