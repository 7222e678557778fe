import type { RandomSource } from './random.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * A fresh id such as `req-7Qm2…`. Only letters, digits, `-` and `_` occur, so an id can be part of a
 * subject. Ids are ours alone: nothing a client sends ever becomes one.
 */
export function newId(prefix: string, random: RandomSource, length = 20): string {
  let id = `${prefix}-`;
  for (let i = 0; i < length; i += 1) id += ALPHABET[Math.floor(random() * ALPHABET.length)] ?? 'A';
  return id;
}
