import { describe, expect, it } from 'vitest';
import { alwaysSmall } from '../../../routers/always-small.ts';
import { isWorthNoting } from '../../../routers/failure-notices.ts';
import { contextOf } from './rows.ts';

const newRouter = () => alwaysSmall(contextOf(1));

describe('isWorthNoting', () => {
  it('lets each message of each router through once a minute', () => {
    const [router, other] = [newRouter(), newRouter()];
    expect(isWorthNoting(router, 'a', 0)).toBe(true);
    expect(isWorthNoting(router, 'a', 59_999)).toBe(false);
    expect(isWorthNoting(router, 'b', 1)).toBe(true);
    expect(isWorthNoting(other, 'a', 1)).toBe(true);
    expect(isWorthNoting(router, 'a', 60_000)).toBe(true);
    expect(isWorthNoting(router, 'a', 60_001)).toBe(false);
  });

  it('gives a router whose messages all differ one line a second once 16 are known', () => {
    const router = newRouter();
    const notedAtMs: number[] = [];
    for (let ms = 0; ms < 5_000; ms += 1) if (isWorthNoting(router, `at ${ms}`, ms)) notedAtMs.push(ms);
    expect(notedAtMs.slice(0, 16)).toEqual([...Array(16).keys()]);
    expect(notedAtMs.slice(16)).toEqual([1015, 2015, 3015, 4015]);
  });
});
