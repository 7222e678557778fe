import { describe, expect, it } from 'vitest';
import { TokenTally } from '../../../actors/subserver/token-tally.ts';

describe('tokens of a system, from one replica', () => {
  it('a change of the share of requests makes no tokens', () => {
    const tally = new TokenTally();
    expect(tally.observe(100_000, 2)).toBe(200_000);
    expect(tally.observe(100_000, 2.3)).toBe(200_000); // a request ended here: nothing was written
    expect(tally.observe(100_010, 2)).toBe(200_020);
  });
});
