/**
 * Accounting of KV memory in blocks of a fixed number of tokens. The buffers themselves live in the engine;
 * a block counts once a sequence's length reaches into it.
 */
export class KvLedger {
  readonly totalBlocks: number;
  readonly blockSizeTokens: number;
  private readonly blocksBySeq = new Map<number, number>();
  private used = 0;

  constructor(totalBlocks: number, blockSizeTokens: number) {
    this.totalBlocks = totalBlocks;
    this.blockSizeTokens = blockSizeTokens;
  }

  get usedBlocks(): number {
    return this.used;
  }

  get freeBlocks(): number {
    return this.totalBlocks - this.used;
  }

  /** Number of blocks that `tokens` tokens occupy. */
  blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.blockSizeTokens);
  }

  /** Whether a sequence of this length fits when it is alone. What does not can only be refused. */
  canEverFit(tokens: number): boolean {
    return this.blocksFor(tokens) <= this.totalBlocks;
  }

  blocksOf(seq: number): number {
    return this.blocksBySeq.get(seq) ?? 0;
  }

  /** Grows (or shrinks, after a rollback) the sequence to `lenTokens`; false and no change if memory is short. */
  tryReserve(seq: number, lenTokens: number): boolean {
    const before = this.blocksOf(seq);
    const after = this.blocksFor(lenTokens);
    if (after - before > this.freeBlocks) return false;
    this.used += after - before;
    if (after === 0) this.blocksBySeq.delete(seq);
    else this.blocksBySeq.set(seq, after);
    return true;
  }

  /** Gives back everything the sequence holds. Idempotent. */
  free(seq: number): void {
    this.used -= this.blocksOf(seq);
    this.blocksBySeq.delete(seq);
  }
}
