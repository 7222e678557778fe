/** Monotonic milliseconds inside the engine's worker: steps are timed where they run, with no clock to inject there. */
export function stepNowMs(): number {
  return performance.now();
}
