import { TokenrailError } from '../../core/errors.ts';

/** A request's place at the gate. */
export interface GateTicket {
  /** Gives the place back, in the queue or in work. Idempotent. */
  leave(): void;
}

interface Entry {
  onTurn: () => void;
  state: 'queued' | 'inside' | 'gone';
}

/**
 * Bounded admission: at most `maxInflight` requests inside, at most `maxQueue` waiting in order of arrival,
 * everybody else refused at once. Abandoned entries leave the queue immediately, so that they do not
 * take the place of somebody who still waits for an answer.
 */
export class AdmissionGate {
  private readonly maxInflight: number;
  private readonly maxQueue: number;
  // A Set keeps the order of insertion and removes an abandoned entry in constant time.
  private readonly queue = new Set<Entry>();
  private inside = 0;

  constructor(maxInflight: number, maxQueue: number) {
    this.maxInflight = maxInflight;
    this.maxQueue = maxQueue;
  }

  get numInside(): number {
    return this.inside;
  }

  get numQueued(): number {
    return this.queue.size;
  }

  /** Whether the next {@link enter} would be refused: asked before the costly parts of a request. */
  get isFull(): boolean {
    return this.inside >= this.maxInflight && this.queue.size >= this.maxQueue;
  }

  /**
   * Takes a place and calls `onTurn` when the request may start: at once, or when a place inside is freed.
   * @throws TokenrailError `overloaded`
   */
  enter(onTurn: () => void): GateTicket {
    if (this.isFull) throw overloaded();
    const entry: Entry = { onTurn, state: 'queued' };
    if (this.inside < this.maxInflight) this.admit(entry);
    else this.queue.add(entry);
    return { leave: () => this.leave(entry) };
  }

  private admit(entry: Entry): void {
    entry.state = 'inside';
    this.inside += 1;
    entry.onTurn();
  }

  private leave(entry: Entry): void {
    const wasInside = entry.state === 'inside';
    entry.state = 'gone';
    this.queue.delete(entry);
    if (!wasInside) return;
    this.inside -= 1;
    const [next] = this.queue;
    if (next === undefined) return;
    this.queue.delete(next);
    this.admit(next);
  }
}

/** The answer to those who find all places taken. */
export function overloaded(): TokenrailError {
  return new TokenrailError('overloaded', 'All places and the queue are taken; try again later.');
}
