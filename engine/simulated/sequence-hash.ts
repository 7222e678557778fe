import { TokenrailError } from '../../core/errors.ts';

const FIRST_CAPACITY = 64;
const EMPTY_HASH = 0x811c9dc5;

/** Hash of a sequence from the hash of all but its last token: it changes with every token and every place. */
export function extendHash(hash: number, token: number): number {
  const mixed = Math.imul(hash ^ (token + 1), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** Hash of the whole of `tokens`. */
export function hashOf(tokens: readonly number[]): number {
  let hash = EMPTY_HASH;
  for (const token of tokens) hash = extendHash(hash, token);
  return hash;
}

/**
 * What a simulated KV cache holds of one sequence: the hash of every prefix. The answer depends on all of them, so a
 * lost rollback, a wrong `past` or a row of another request shows in the tokens.
 */
export class SequenceHash {
  /** Tokens held. */
  length = 0;
  private hashes = new Uint32Array(FIRST_CAPACITY);

  constructor() {
    this.hashes[0] = EMPTY_HASH;
  }

  /**
   * Goes back to `past` tokens, then feeds `tokens`. Returns the hash of the whole.
   * @throws TokenrailError `illegal_state` for a past that is not held
   */
  feed(past: number, tokens: readonly number[]): number {
    if (past > this.length) {
      throw new TokenrailError('illegal_state', `past ${past} of a sequence of ${this.length} tokens`);
    }
    const length = past + tokens.length;
    if (length >= this.hashes.length) this.grow(length);
    const { hashes } = this;
    let hash = hashes[past] ?? EMPTY_HASH;
    for (let i = 0; i < tokens.length; i += 1) {
      hash = extendHash(hash, tokens[i] ?? 0);
      hashes[past + i + 1] = hash;
    }
    this.length = length;
    return hash;
  }

  private grow(length: number): void {
    const grown = new Uint32Array(Math.max(2 * this.hashes.length, length + 1));
    grown.set(this.hashes);
    this.hashes = grown;
  }
}
