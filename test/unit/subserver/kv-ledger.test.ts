import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KvLedger } from '../../../engine/kv.ts';

describe('the KV ledger', () => {
  it('counts the blocks that lengths reach into, whatever the order of growth, rollback and release', () => {
    const operation = fc.record({
      seq: fc.integer({ min: 1, max: 5 }),
      len: fc.integer({ min: 0, max: 90 }),
      isFree: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(operation), (operations) => {
        const ledger = new KvLedger(10, 16);
        const lengths = new Map<number, number>();
        const blocks = (): number => [...lengths.values()].reduce((sum, len) => sum + Math.ceil(len / 16), 0);
        for (const { seq, len, isFree } of operations) {
          const before = blocks();
          if (isFree) {
            ledger.free(seq);
            lengths.delete(seq);
          } else if (ledger.tryReserve(seq, len)) lengths.set(seq, len);
          else
            expect(before - Math.ceil((lengths.get(seq) ?? 0) / 16) + Math.ceil(len / 16)).toBeGreaterThan(
              10,
            );
          expect(ledger.usedBlocks).toBe(blocks());
          expect(ledger.usedBlocks + ledger.freeBlocks).toBe(10);
        }
      }),
    );
  });

  it('knows what can never fit', () => {
    const ledger = new KvLedger(4, 256);
    expect(ledger.canEverFit(1024)).toBe(true);
    expect(ledger.canEverFit(1025)).toBe(false);
  });
});
