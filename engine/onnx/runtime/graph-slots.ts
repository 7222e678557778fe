import { pastKey, pastValue, presentKey, presentValue } from '../graph/io-names.ts';
import type { Feeds, Fetches, Session } from './ort-session.ts';
import type { SequenceCache } from './sequence-cache.ts';

/**
 * One graph of the ladder with the sequences that its slots are bound to. A sequence keeps its slot from step
 * to step, so that a decode step rebinds nothing.
 */
export class GraphSlots {
  readonly session: Session;
  readonly rows: number;
  /** Inputs, kept between runs. */
  readonly feeds: Feeds = {};
  /** Key and value outputs, kept between runs: the very tensors of the feeds. */
  readonly fetches: Fetches = {};
  private readonly numLayers: number;
  private readonly idle: SequenceCache;
  private readonly occupants: SequenceCache[];

  constructor(session: Session, rows: number, numLayers: number, idle: SequenceCache) {
    this.session = session;
    this.rows = rows;
    this.numLayers = numLayers;
    this.idle = idle;
    this.occupants = Array.from({ length: rows }, () => idle);
    for (let slot = 0; slot < rows; slot += 1) this.bind(slot, idle);
  }

  /** Gives each cache a slot and every other slot the idle cache. @returns the slot of each cache, in order */
  assign(caches: readonly SequenceCache[]): number[] {
    const slots = caches.map((cache) => this.occupants.indexOf(cache));
    const taken = new Set(slots);
    let free = 0;
    for (const [index, cache] of caches.entries()) {
      if (slots[index] !== -1) continue;
      while (taken.has(free)) free += 1;
      taken.add(free);
      slots[index] = free;
      this.bind(free, cache);
    }
    for (let slot = 0; slot < this.rows; slot += 1) if (!taken.has(slot)) this.bind(slot, this.idle);
    return slots;
  }

  /** Forgets a cache, so that it can be reclaimed. */
  forget(cache: SequenceCache): void {
    for (let slot = 0; slot < this.rows; slot += 1)
      if (this.occupants[slot] === cache) this.bind(slot, this.idle);
  }

  private bind(slot: number, cache: SequenceCache): void {
    if (this.occupants[slot] === cache && this.feeds[pastKey(slot, 0)] !== undefined) return;
    this.occupants[slot] = cache;
    for (let layer = 0; layer < this.numLayers; layer += 1) {
      const [keys, values] = [cache.keys[layer], cache.values[layer]];
      if (keys === undefined || values === undefined) throw new Error(`no buffers for layer ${layer}`);
      this.feeds[pastKey(slot, layer)] = keys;
      this.feeds[pastValue(slot, layer)] = values;
      this.fetches[presentKey(slot, layer)] = keys;
      this.fetches[presentValue(slot, layer)] = values;
    }
  }
}
