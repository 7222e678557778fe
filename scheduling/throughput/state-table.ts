import type { ChainState } from './starter.ts';

/**
 * Numbers states in the order in which they are first seen: a hash table with open addressing over the states'
 * words, so that neither the number of models nor the length of a step can overflow a key.
 */
export class StateTable {
  /** States found. */
  size = 0;
  private readonly width: number;
  private words: Int32Array;
  /** Number of a state + 1; 0 = free. A power of two long, at most half full. */
  private slots = new Int32Array(1 << 10);

  /** @param width words per state */
  constructor(width: number) {
    this.width = width;
    this.words = new Int32Array(width << 9);
  }

  /** The number of a state; a new one gets the next. */
  numberOf(state: ChainState): number {
    const mask = this.slots.length - 1;
    let slot = this.hash(state, 0) & mask;
    for (let found = this.slots[slot] ?? 0; found !== 0; found = this.slots[slot] ?? 0) {
      if (this.isAt((found - 1) * this.width, state)) return found - 1;
      slot = (slot + 1) & mask;
    }
    const number = this.size;
    this.words.set(state, number * this.width);
    this.size = number + 1;
    this.slots[slot] = this.size;
    if (2 * this.size >= this.slots.length) this.grow();
    return number;
  }

  /** Copies a state into `into`. */
  read(number: number, into: ChainState): void {
    const from = number * this.width;
    for (let i = 0; i < this.width; i += 1) into[i] = this.words[from + i] ?? 0;
  }

  /** All states, one after the other. */
  toArray(): Int32Array {
    return this.words.slice(0, this.size * this.width);
  }

  private isAt(from: number, state: ChainState): boolean {
    for (let i = 0; i < this.width; i += 1) if (this.words[from + i] !== state[i]) return false;
    return true;
  }

  private hash(words: Int32Array, from: number): number {
    let hash = 0;
    for (let i = 0; i < this.width; i += 1) {
      hash = Math.imul(hash ^ (words[from + i] ?? 0), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash >>> 0;
  }

  private grow(): void {
    const words = new Int32Array(2 * this.words.length);
    words.set(this.words);
    this.words = words;
    this.slots = new Int32Array(2 * this.slots.length);
    const mask = this.slots.length - 1;
    for (let number = 0; number < this.size; number += 1) {
      let slot = this.hash(words, number * this.width) & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = number + 1;
    }
  }
}
