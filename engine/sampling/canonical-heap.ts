/**
 * Token ids in canonical order (descending logit, ties by ascending id), popped one by one: O(n) to build,
 * O(log n) per pop. A draw seldom needs more than the first few.
 */
export class CanonicalHeap {
  private readonly logits: Float32Array;
  private readonly ids: Int32Array;
  private count: number;

  /** Takes over `ids` and reorders it. */
  constructor(logits: Float32Array, ids: Int32Array) {
    this.logits = logits;
    this.ids = ids;
    this.count = ids.length;
    for (let i = (this.count >> 1) - 1; i >= 0; i -= 1) this.siftDown(i);
  }

  get size(): number {
    return this.count;
  }

  /** The next id, or −1 when none is left. */
  pop(): number {
    if (this.count === 0) return -1;
    const top = this.ids[0] ?? -1;
    this.count -= 1;
    this.ids[0] = this.ids[this.count] ?? -1;
    this.siftDown(0);
    return top;
  }

  private isBefore(a: number, b: number): boolean {
    const logitA = this.logits[a] ?? -Infinity;
    const logitB = this.logits[b] ?? -Infinity;
    return logitA > logitB || (logitA === logitB && a < b);
  }

  private siftDown(start: number): void {
    const moving = this.ids[start] ?? -1;
    let hole = start;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= this.count) break;
      const right = child + 1;
      if (right < this.count && this.isBefore(this.ids[right] ?? -1, this.ids[child] ?? -1)) child = right;
      const candidate = this.ids[child] ?? -1;
      if (!this.isBefore(candidate, moving)) break;
      this.ids[hole] = candidate;
      hole = child;
    }
    this.ids[hole] = moving;
  }
}
