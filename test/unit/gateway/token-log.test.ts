import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenLog } from '../../../actors/gateway/token-log.ts';
import type { Tokens } from '../../../transport/messages.ts';

const tokens = (position: number, ids: number[]): Tokens => ({
  kind: 'tokens',
  rid: 'req-a',
  term: 0,
  position,
  ids,
  origins: { models: ids.map((id) => (id % 2) + 1), signals: ids.map((id) => id / 10) },
});

describe('TokenLog', () => {
  it('appends, skips an overlap and reports a gap', () => {
    const log = new TokenLog(100);
    expect(log.accept(tokens(0, [7, 8]))).toEqual({ kind: 'new', from: 0 });
    expect(log.accept(tokens(1, [8, 9, 10]))).toEqual({ kind: 'new', from: 2 });
    expect(log.accept(tokens(0, [7, 8, 9]))).toEqual({ kind: 'known' });
    expect(log.accept(tokens(4, []))).toEqual({ kind: 'known' });
    expect(log.accept(tokens(5, [1]))).toEqual({ kind: 'gap' });
    expect(log.accept(tokens(5, []))).toEqual({ kind: 'gap' });
    expect(log.ids).toEqual([7, 8, 9, 10]);
    expect(log.models).toEqual([2, 1, 2, 1]);
    expect(log.signals).toEqual([0.7, 0.8, 0.9, 1]);
  });

  it('keeps at most maxTokens', () => {
    const log = new TokenLog(3);
    log.accept(tokens(0, [1, 2, 3, 4, 5]));
    expect(log.ids).toEqual([1, 2, 3]);
    expect(log.accept(tokens(3, [4]))).toEqual({ kind: 'known' });
  });

  it('counts writers and their changes, the first departure from the home included', () => {
    const log = new TokenLog(100);
    log.accept(tokens(0, [1, 3, 2, 5]));
    expect(log.models).toEqual([2, 2, 1, 2]);
    expect(log.writerChanges(1)).toBe(3);
    expect([...log.tokensByModel()]).toEqual([
      [2, 3],
      [1, 1],
    ]);
    log.truncate(2);
    expect(log.writerChanges(1)).toBe(1);
  });

  it('ends up with the answer, whatever is doubled, lost or out of order, if gaps are filled', () => {
    const answer = Array.from({ length: 30 }, (_, i) => i * 3);
    const pieces = fc.array(fc.tuple(fc.nat(29), fc.nat(6)), { maxLength: 60 });
    fc.assert(
      fc.property(pieces, (messages) => {
        const log = new TokenLog(100);
        for (const [position, count] of messages) {
          const result = log.accept(tokens(position, answer.slice(position, position + count)));
          if (result.kind === 'gap') log.accept(tokens(log.length, answer.slice(log.length, position)));
          expect(log.ids).toEqual(answer.slice(0, log.length));
        }
      }),
    );
  });
});
