interface State {
  next: Map<number, State>;
  /** The state of the longest proper suffix that is a beginning of some stop string. */
  fallback: State | undefined;
  /** Length of the text this state stands for, in UTF-16 units. */
  depth: number;
  /** Index of the longest stop string that ends here; -1 = none. */
  stop: number;
}

const makeState = (depth: number): State => ({ next: new Map(), fallback: undefined, depth, stop: -1 });

/** What a stop string's appearance means for the text. */
export interface StopMatch {
  stop: string;
  /** Where the match begins, in UTF-16 units from the beginning of the whole text. */
  index: number;
}

/**
 * Looks for stop strings in a text that arrives in pieces, in linear time (Aho and Corasick 1975). The match that is
 * complete first wins; of several that end at the same place, the longest. So the result does not depend on
 * how the text is cut. Only what may still become a stop string is held back.
 */
export class StopMatcher {
  readonly #stops: readonly string[];
  readonly #root = makeState(0);
  #state = this.#root;
  #held = '';
  #numSeen = 0;
  #isDone = false;

  /** @param stops well-formed, non-empty texts; none = every text passes at once */
  constructor(stops: readonly string[]) {
    this.#stops = stops;
    stops.forEach((stop, index) => this.#add(stop, index));
    this.#link();
  }

  /** @returns the text that no longer can belong to a match; after a match everything is swallowed */
  push(text: string): { emit: string; matched?: StopMatch } {
    if (this.#isDone) return { emit: '' };
    if (this.#stops.length === 0) return { emit: text };
    for (let i = 0; i < text.length; i += 1) {
      this.#state = this.#step(this.#state, text.charCodeAt(i));
      const stop = this.#stops[this.#state.stop];
      if (stop !== undefined) return this.#finish(this.#held + text.slice(0, i + 1), stop);
    }
    const pending = this.#held + text;
    const cut = pending.length - this.#state.depth;
    this.#held = pending.slice(cut);
    this.#numSeen += cut;
    return { emit: pending.slice(0, cut) };
  }

  /** Ends the text and gives out what was held back. */
  flush(): string {
    const rest = this.#held;
    this.#held = '';
    this.#isDone = true;
    return rest;
  }

  #finish(pending: string, stop: string): { emit: string; matched: StopMatch } {
    const cut = pending.length - stop.length;
    this.#isDone = true;
    this.#held = '';
    return { emit: pending.slice(0, cut), matched: { stop, index: this.#numSeen + cut } };
  }

  #step(from: State, unit: number): State {
    for (let state: State | undefined = from; state !== undefined; state = state.fallback) {
      const next = state.next.get(unit);
      if (next !== undefined) return next;
    }
    return this.#root;
  }

  #add(stop: string, index: number): void {
    let state = this.#root;
    for (let i = 0; i < stop.length; i += 1) {
      const unit = stop.charCodeAt(i);
      const next = state.next.get(unit) ?? makeState(i + 1);
      state.next.set(unit, next);
      state = next;
    }
    state.stop = index;
  }

  /** Breadth first, so that a state's fallback is complete before its successors are linked. */
  #link(): void {
    const queue = [this.#root];
    for (let state = queue.shift(); state !== undefined; state = queue.shift()) {
      for (const [unit, next] of state.next) {
        next.fallback = state === this.#root ? this.#root : this.#step(state.fallback ?? this.#root, unit);
        if (next.stop === -1) next.stop = next.fallback.stop;
        queue.push(next);
      }
    }
  }
}
