import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BLOCK_TOKENS, blockHashes, PrefixCache } from '../../../bench/baselines/prefix-cache.ts';

const count = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

test('only full blocks are hashed, and a hash tells of everything before it', () => {
  const a = count(0, 40);
  const b = [...a];
  b[3] = 99;
  expect(blockHashes(a)).toHaveLength(2);
  expect(blockHashes(a.slice(0, 15))).toEqual([]);
  expect(blockHashes([...a, 1, 2])).toEqual(blockHashes(a));
  expect(blockHashes(b)[1]).not.toBe(blockHashes(a)[1]);
});

test('a hit takes over the sequence with the full blocks that both share; the rest must be computed again', () => {
  const cache = new PrefixCache(1000, () => {});
  const first = cache.acquire(count(0, 40));
  expect(first.matchedTokens).toBe(0);
  cache.keep(first.seq, count(0, 40), 39);
  expect(cache.acquire([...count(0, 36), 7, 7])).toEqual({ seq: first.seq, matchedTokens: 32 });
  // It is in use now, so nobody else can have it.
  expect(cache.acquire(count(0, 40)).matchedTokens).toBe(0);
});

test('at least one token is left to compute', () => {
  const cache = new PrefixCache(1000, () => {});
  const { seq } = cache.acquire(count(0, 32));
  cache.keep(seq, count(0, 32), 32);
  expect(cache.acquire(count(0, 32)).matchedTokens).toBe(16);
});

test('KV beyond what was fed is not matched', () => {
  const cache = new PrefixCache(1000, () => {});
  const { seq } = cache.acquire(count(0, 33));
  cache.keep(seq, count(0, 33), 31);
  expect(cache.acquire(count(0, 40)).matchedTokens).toBe(16);
});

test('the least recently used goes first, and what fills no block at once', () => {
  const evicted: number[] = [];
  const cache = new PrefixCache(4 * BLOCK_TOKENS, (seq) => evicted.push(seq));
  const seqs = [0, 1000, 2000].map((base) => {
    const { seq } = cache.acquire(count(base, base + 33));
    cache.keep(seq, count(base, base + 33), 33);
    return seq;
  });
  expect(evicted).toEqual([seqs[0]]);
  expect(cache.acquire(count(0, 33)).matchedTokens).toBe(0);
  const short = cache.acquire([1, 2, 3]);
  cache.keep(short.seq, [1, 2, 3], 3);
  expect(evicted).toEqual([seqs[0], short.seq]);
});

test('never more blocks than it may have, and a match is always a true prefix', () => {
  const kept = new Map<number, number[]>();
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 80 })),
      (all) => {
        kept.clear();
        const cache = new PrefixCache(6 * BLOCK_TOKENS, (seq) => kept.delete(seq));
        for (const tokens of all) {
          const { seq, matchedTokens } = cache.acquire(tokens);
          const old = kept.get(seq) ?? [];
          expect(old.slice(0, matchedTokens)).toEqual(tokens.slice(0, matchedTokens));
          expect(matchedTokens).toBeLessThan(tokens.length);
          kept.set(seq, tokens);
          cache.keep(seq, tokens, tokens.length);
          expect(cache.usedBlocks).toBeLessThanOrEqual(6);
        }
      },
    ),
  );
});
