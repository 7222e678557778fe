import { describe, expect, it } from 'vitest';
import { adjustedLogRates, type TurnRecord } from '../../../bench/sweep/control.ts';
import type { Stage, Turn } from '../../../bench/sweep/entrant.ts';
import { finalistsOf, verdictOf, type Measured } from '../../../bench/sweep/verdict.ts';
import { uniform } from '../../../core/random.ts';

const draw = (entrant: number, turn: number, model: number): number =>
  uniform({ seed: entrant, position: turn, model, purpose: 'simulation' });

/** A turn of 2 s whose speed is that of the entrant, times what a lucky guest share does to it, times rest noise. */
function turnOf(tokensPerSecond: number, entrant: number, turn: number, noise = 0.02): TurnRecord {
  const share = 0.2 * (1 + 0.3 * (draw(entrant, turn, 1) - 0.5));
  const rest = 1 + noise * (draw(entrant, turn, 2) - 0.5);
  const tokens = 2 * tokensPerSecond * (0.2 / share) * rest;
  return { tokens, guestTokens: share * tokens, seconds: 2, fedTokens: [tokens, 1.1 * tokens] };
}

const turnsOf = (rate: number, entrant: number, stage: Stage, count: number, from = 0): Turn[] =>
  Array.from({ length: count }, (_, i) => ({ stage, record: turnOf(rate, entrant, from + i) }));

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

describe('what luck does to a turn', () => {
  it('is taken out, whoever had it', () => {
    const rates = [100, 104, 90];
    const turns = rates.map((rate, i) => turnsOf(rate, i, 'first', 8).map(({ record }) => record));
    const raw = turns.map((all) => mean(all.map(({ tokens, seconds }) => Math.log(tokens / seconds))));
    const free = adjustedLogRates(turns).map(mean);
    const off = (values: readonly number[], i: number): number =>
      Math.abs((values[i] ?? 0) - (values[0] ?? 0) - Math.log((rates[i] ?? 1) / 100));
    for (const i of [1, 2]) {
      expect(off(free, i)).toBeLessThan(0.012);
      expect(off(raw, i)).toBeGreaterThan(off(free, i));
    }
  });

  it('leaves differences between entrants alone that have other reasons', () => {
    // One entrant's speed is its own; its share differs from the other's by as much, and explains nothing within either.
    const flat = (rate: number, share: number): TurnRecord[] =>
      [0, 1, 2].map((i) => {
        const wobble = 1 + 0.1 * (i - 1);
        const guestTokens = share * wobble * rate;
        return { tokens: rate, guestTokens, seconds: 1, fedTokens: [rate, rate] };
      });
    const [a = [], b = []] = adjustedLogRates([flat(100, 0.2), flat(110, 0.25)]);
    expect(mean(b) - mean(a)).toBeCloseTo(Math.log(1.1), 9);
  });

  it('changes nothing where there was none, and survives turns without a token', () => {
    const equal: TurnRecord = { tokens: 100, guestTokens: 20, seconds: 2, fedTokens: [100, 110] };
    expect(adjustedLogRates([[equal, equal], [equal]])).toEqual([
      [Math.log(50), Math.log(50)],
      [Math.log(50)],
    ]);
    const nothing: TurnRecord = { tokens: 0, guestTokens: 0, seconds: 2, fedTokens: [0, 0] };
    for (const rate of adjustedLogRates([[equal, nothing], [equal]]).flat())
      expect(Number.isFinite(rate)).toBe(true);
  });
});

describe('the verdict of a sweep', () => {
  it('goes by rounds that did not choose the best', () => {
    const numRounds = 12;
    // Twenty equals: the best of them by few turns looks better than it is.
    const entrants: Measured[] = Array.from({ length: 21 }, (_, i) => ({
      thresholds: i === 0 ? null : ([1, i] as const),
      turns: Array.from({ length: 3 }, (_, turn) => ({
        stage: 'first' as const,
        record: turnOf(100, i, turn, 0.2),
      })),
    }));
    const [auto, best] = finalistsOf(entrants, 1);
    if (!auto || !best) throw new Error('no finalists');
    const judged = entrants.map((entrant, i) =>
      entrant === auto || entrant === best
        ? {
            ...entrant,
            turns: [
              ...entrant.turns,
              ...Array.from({ length: numRounds }, (_, turn) => ({
                stage: 'verdict' as const,
                record: turnOf(100, i, 100 + turn, 0.2),
              })),
            ],
          }
        : entrant,
    );
    const verdict = verdictOf(judged);
    const chosen = verdict.points.find(({ thresholds }) => thresholds === verdict.best);
    const ours = verdict.points.find(({ thresholds }) => thresholds === null);
    expect((ours?.tokensPerSecond ?? 0) / (chosen?.tokensPerSecond ?? 1)).toBeLessThan(0.97);
    expect(Math.abs(verdict.share - 1)).toBeLessThan(3 * verdict.shareStandardError);
    expect(verdict.shareStandardError).toBeGreaterThan(0.005);
    expect(verdict.shareStandardError).toBeLessThan(0.04);
  });

  it('finds the difference, keeps the default among the finalists, and names the best', () => {
    const entrants: Measured[] = [
      { thresholds: null, turns: [...turnsOf(95, 0, 'first', 4), ...turnsOf(95, 0, 'verdict', 10, 50)] },
      { thresholds: [1, 1], turns: turnsOf(80, 1, 'first', 4) },
      { thresholds: [1, 2], turns: [...turnsOf(100, 2, 'first', 4), ...turnsOf(100, 2, 'verdict', 10, 50)] },
    ];
    expect(finalistsOf(entrants, 1).map(({ thresholds }) => thresholds)).toEqual([null, [1, 2]]);
    const verdict = verdictOf(entrants);
    expect(verdict.best).toEqual([1, 2]);
    expect(verdict.share).toBeGreaterThan(0.93);
    expect(verdict.share).toBeLessThan(0.97);
    expect(verdict.points.map(({ verdictTokensPerSecond }) => verdictTokensPerSecond === null)).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('judges by the better of those that are judged', () => {
    const judged = (rate: number, i: number): Turn[] => [
      ...turnsOf(rate, i, 'first', 4),
      ...turnsOf(rate, i, 'verdict', 10, 50),
    ];
    const entrants: Measured[] = [
      { thresholds: null, turns: judged(95, 0) },
      { thresholds: [1, 1], turns: judged(96, 1) },
      { thresholds: [1, 2], turns: judged(100, 2) },
    ];
    const verdict = verdictOf(entrants);
    expect(verdict.best).toEqual([1, 2]);
    expect(verdict.share).toBeLessThan(0.97);
    expect(verdictOf([entrants[0], entrants[2], entrants[1]].flatMap((one) => one ?? [])).best).toEqual([
      1, 2,
    ]);
  });

  it('learns what luck does from all turns, also where a few are chosen among', () => {
    const isRight = (seed: number, isFromAll: boolean): boolean => {
      const entrants: Measured[] = Array.from({ length: 18 }, (_, i) => {
        const numTurns = i < 5 ? 3 : 2;
        const rate = i === 1 ? 105 : 100;
        // Tokens fed scatter, and here decide nothing: a few turns explain themselves by them nevertheless.
        const record = (turn: number): TurnRecord => {
          const id = 1000 * seed + i;
          const one = turnOf(rate, id, turn, 0.15);
          const fed = (model: number): number => one.tokens * (1 + 0.3 * draw(id, turn, model));
          return { ...one, fedTokens: [fed(3), fed(4)] };
        };
        const turns = Array.from({ length: numTurns }, (__, t) => ({
          stage: 'first' as const,
          record: record(t),
        }));
        return { thresholds: i === 0 ? null : ([1, i] as const), turns };
      });
      const finalists = entrants.slice(0, 5);
      const [, best] = finalistsOf(isFromAll ? entrants : finalists, 1, finalists);
      return best === entrants[1];
    };
    const count = (isFromAll: boolean): number =>
      Array.from({ length: 400 }, (_, seed) => isRight(seed, isFromAll)).filter(Boolean).length;
    expect(count(true)).toBeGreaterThan(300);
    expect(count(true)).toBeGreaterThan(count(false) + 8);
  });
});
