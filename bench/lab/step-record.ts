/** One step as its engine's owner saw it. Times in milliseconds. */
export interface StepRecord {
  rows: number;
  /** Tokens fed over all rows. */
  tokens: number;
  startMs: number;
  /** When the result was back on the owner's thread. */
  endMs: number;
  /** Inside the runtime's `run()`. */
  runMs: number;
  /** Inside the engine: preparing, running, sampling. */
  engineMs: number;
  /** What the owner did with the result: routing, commits, encoding, publishing. */
  callbackMs: number;
  /** Of it: inside the bus. */
  publishMs: number;
  /** Between the end of the callback of the step before and the start; NaN where the lane stood still in between. */
  gapMs: number;
  /** Of it: handling messages of the bus. */
  handlerMs: number;
}
