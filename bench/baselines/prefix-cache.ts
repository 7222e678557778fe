/** Tokens of one block of the prefix cache; only full blocks are shared, as in vLLM. */
export const BLOCK_TOKENS = 16;

/** Two independent 32-bit chains packed into one exact double of 53 bits. */
function chain(parent: number, tokens: readonly number[], from: number): number {
  let a = (parent >>> 0) ^ 0x811c9dc5;
  let b = Math.floor(parent / 0x1_0000_0000) ^ 0x9e3779b9;
  for (let i = from; i < from + BLOCK_TOKENS; i += 1) {
    const token = tokens[i] ?? 0;
    a = Math.imul(a ^ token, 0x01000193);
    a ^= a >>> 15;
    b = Math.imul(b ^ token, 0x85ebca6b);
    b ^= b >>> 13;
  }
  return (b & 0x1f_ffff) * 0x1_0000_0000 + (a >>> 0);
}

/** Chained hashes of the full blocks of a sequence: block k's hash says that blocks 0..k are equal. */
export function blockHashes(tokens: readonly number[]): number[] {
  const hashes: number[] = [];
  let parent = 0;
  for (let from = 0; from + BLOCK_TOKENS <= tokens.length; from += BLOCK_TOKENS) {
    parent = chain(parent, tokens, from);
    hashes.push(parent);
  }
  return hashes;
}

interface Entry {
  seq: number;
  hashes: readonly number[];
}

/** What a new request gets: a sequence number, and how many leading tokens of its KV are valid. */
export interface Acquired {
  seq: number;
  matchedTokens: number;
}

/**
 * Prefix cache of a standard server: KV of ended requests by the chained hashes of their full blocks, least recently
 * used out first. A hit takes the whole sequence over; sequences that run cannot be matched (no request here shares
 * its tokens with another that runs, apart from the prompt).
 */
export class PrefixCache {
  private readonly capacityBlocks: number;
  private readonly evict: (seq: number) => void;
  /** By insertion = by age. */
  private readonly entries = new Set<Entry>();
  private readonly byHash = new Map<number, Entry>();
  private numBlocks = 0;
  private nextSeq = 1;

  /** @param evict frees the KV of a sequence */
  constructor(capacityTokens: number, evict: (seq: number) => void) {
    this.capacityBlocks = Math.floor(capacityTokens / BLOCK_TOKENS);
    this.evict = evict;
  }

  get usedBlocks(): number {
    return this.numBlocks;
  }

  /** The longest cached run of leading full blocks, never the whole sequence: a step needs one token to compute. */
  acquire(tokens: readonly number[]): Acquired {
    const hashes = blockHashes(tokens.slice(0, -1));
    for (let i = hashes.length - 1; i >= 0; i -= 1) {
      const entry = this.byHash.get(hashes[i] ?? NaN);
      if (entry === undefined) continue;
      this.remove(entry);
      return { seq: entry.seq, matchedTokens: (i + 1) * BLOCK_TOKENS };
    }
    const seq = this.nextSeq;
    this.nextSeq += 1;
    return { seq, matchedTokens: 0 };
  }

  /** Keeps the first `kvLen` tokens' KV of an ended request, as far as they fill blocks. */
  keep(seq: number, tokens: readonly number[], kvLen: number): void {
    const entry = { seq, hashes: blockHashes(tokens.slice(0, kvLen)) };
    if (entry.hashes.length === 0) {
      this.evict(seq);
      return;
    }
    this.entries.add(entry);
    this.numBlocks += entry.hashes.length;
    for (const hash of entry.hashes) this.byHash.set(hash, entry);
    while (this.numBlocks > this.capacityBlocks) {
      const [oldest] = this.entries;
      if (oldest === undefined) break;
      this.remove(oldest);
      this.evict(oldest.seq);
    }
  }

  private remove(entry: Entry): void {
    this.entries.delete(entry);
    this.numBlocks -= entry.hashes.length;
    for (const hash of entry.hashes) if (this.byHash.get(hash) === entry) this.byHash.delete(hash);
  }
}
