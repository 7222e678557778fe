/** A pending timer. `cancel` is idempotent and safe after the timer has fired. */
export interface Timer {
  cancel(): void;
}

/**
 * The only source of time for actors, machines, policies and routers. The system clock and the virtual
 * clock of the simulation implement it, so that the same code runs in both.
 */
export interface Clock {
  /** Monotonic time in milliseconds, fractional. Only differences have a meaning. */
  nowMs(): number;
  /** Wall-clock time in milliseconds since the epoch; for `created` fields and logs, never for intervals. */
  epochMs(): number;
  /** Calls `callback` once after `delayMs` (negative and NaN count as 0). Never calls it synchronously. */
  setTimer(delayMs: number, callback: () => void): Timer;
  /**
   * Calls `callback` after everything that belongs to the current instant has been handled. Schedulers
   * decide there: deciding inside a completion handler would miss the requests that the same instant brings.
   *
   * @param rank who comes first among those of one instant: the lowest, and what it does in the instant is seen by
   *   the next. Equal ranks keep the order of asking. Real clocks have no exact instants and ignore it. Default 0.
   */
  afterInstant(callback: () => void, rank?: number): void;
}
