import { describe, expect, test } from 'vitest';
import { loadsOf, SATURATION_IN_FLIGHT } from '../../../bench/handoff/plan.ts';
import { checkBounds, printable, rowOf } from '../../../bench/handoff/report.ts';
import { sampleHandoff } from '../../../bench/handoff/sample-handoff.ts';
import { median, quantile } from '../../../bench/handoff/statistics.ts';
import { decodeFrame, encodeFrame } from '../../../transport/codec.ts';

const result = (medianUs: number, handoffsPerSecond: number) => ({
  medianUs,
  p99Us: 2 * medianUs,
  handoffsPerSecond,
});

describe('the numbers of the handoff benchmark', () => {
  test('quantiles are nearest ranks, medians of even counts lie between', () => {
    const sorted = Float64Array.from({ length: 100 }, (_, i) => i + 1);
    expect([0, 0.5, 0.99, 1].map((q) => quantile(sorted, q))).toEqual([1, 50, 99, 100]);
    expect(quantile([], 0.5)).toBeNaN();
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
  });

  test('the handoff it sends is a valid one', () => {
    for (const tokens of [1, 32]) {
      const handoff = sampleHandoff(tokens, 7);
      expect(decodeFrame(encodeFrame([handoff])).messages).toMatchObject([
        { ...handoff, origins: { models: handoff.origins?.models } },
      ]);
    }
  });

  test('bounds can be missed: latency alone in flight, throughput at saturation', () => {
    const loads = loadsOf(0.01).filter(({ tokens }) => tokens === 1);
    const rows = loads.map((load) =>
      rowOf('embedded', load, [result(400, 1), result(200, 9e9), result(301, 19_999)]),
    );
    const checks = checkBounds(rows);
    expect(checks.map(({ what, measured, holds }) => [what, measured, holds])).toEqual([
      ['oneWayMedianUs', 301, false],
      ['handoffsPerSecond', 19_999, false],
    ]);
    const fine = loads.map((load) => rowOf('embedded', load, [result(300, 20_000)]));
    expect(checkBounds(fine).map(({ holds }) => holds)).toEqual([true, true]);
    const text = printable({ brokers: { embedded: 'x' }, rows, bounds: checks });
    expect(text).toMatch(/MISSED embedded, 1 ids: oneWayMedianUs 301 <= 300/);
    expect(text).toContain(String(SATURATION_IN_FLIGHT));
  });
});
