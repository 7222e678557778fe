import { describe, expect, it } from 'vitest';
import { newId } from '../../../core/ids.ts';
import { uniform } from '../../../core/random.ts';

const counted = (seed: number) => {
  let position = 0;
  return () => {
    position += 1;
    return uniform({ seed, position, model: 0, purpose: 'admission' });
  };
};

describe('newId', () => {
  it('has the prefix and letters that may stand in a subject', () => {
    const random = counted(1);
    for (let i = 0; i < 200; i += 1) expect(newId('req', random)).toMatch(/^req-[A-Za-z0-9]{20}$/);
    expect(newId('gw', random, 6)).toMatch(/^gw-[A-Za-z0-9]{6}$/);
  });

  it('comes from the injected source alone', () => {
    expect(newId('req', counted(5))).toBe(newId('req', counted(5)));
    expect(newId('req', counted(5))).not.toBe(newId('req', counted(6)));
  });

  it('uses the whole alphabet, both ends of [0, 1) included', () => {
    expect(newId('a', () => 0, 3)).toBe('a-AAA');
    expect(newId('a', () => 1 - 2 ** -53, 3)).toBe('a-999');
    const random = counted(9);
    const seen = new Set(Array.from({ length: 200 }, () => newId('', random).slice(1)).join(''));
    expect(seen.size).toBe(62);
  });

  it('does not repeat', () => {
    const random = counted(2);
    const ids = Array.from({ length: 10_000 }, () => newId('req', random));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
