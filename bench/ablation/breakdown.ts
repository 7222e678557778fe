import type { ModeRun } from '../lab/mode-run.ts';

/** Where the time between the ends of two home steps goes, as shares of it. They sum to 1. */
export interface Breakdown {
  /** Steps that were counted. */
  steps: number;
  /** Mean time from the end of one step to the end of the next, in milliseconds. */
  meanMs: number;
  shares: {
    /** Inside the runtime's `run()`. */
    modelRun: number;
    /** Inside `route`, with building its rows. */
    routing: number;
    /** Inside the engine but outside `run()`: preparing inputs, signals, drawing tokens. */
    sampling: number;
    /** Publishing, and handling messages while the engine was idle. Messages handled during a step cost nothing here. */
    bus: number;
    /** Nothing to do: no row was ready, or the policy held. */
    waiting: number;
    /** Commits, encoding frames, the way to the engine's thread and back. */
    other: number;
  };
  /** Everything but the model's run, as a share of everything but waiting. */
  overhead: number;
}

/**
 * From the steps of a home and the growth of its counter `route_us`. A step that follows a pause of the lane is left out.
 * @returns undefined where there is no step to speak of
 */
export function breakdownOf({ steps: [home], counters }: ModeRun): Breakdown | undefined {
  const cycles = home.filter(({ gapMs }) => Number.isFinite(gapMs));
  if (cycles.length === 0) return undefined;
  const sum = (pick: (step: (typeof cycles)[number]) => number): number =>
    cycles.reduce((total, step) => total + pick(step), 0);
  const totalMs = sum(({ gapMs, endMs, startMs, callbackMs }) => gapMs + endMs - startMs + callbackMs);
  const runMs = sum(({ runMs }) => runMs);
  const samplingMs = sum(({ engineMs, runMs }) => engineMs - runMs);
  const routingMs = ((counters['route_us'] ?? 0) / 1000) * (cycles.length / home.length);
  const busMs = sum(({ publishMs, handlerMs, gapMs }) => publishMs + Math.min(handlerMs, gapMs));
  const waitingMs = sum(({ gapMs, handlerMs }) => Math.max(0, gapMs - handlerMs));
  const otherMs = Math.max(0, totalMs - runMs - samplingMs - routingMs - busMs - waitingMs);
  const share = (ms: number): number => ms / totalMs;
  return {
    steps: cycles.length,
    meanMs: totalMs / cycles.length,
    shares: {
      modelRun: share(runMs),
      routing: share(routingMs),
      sampling: share(samplingMs),
      bus: share(busMs),
      waiting: share(waitingMs),
      other: share(otherMs),
    },
    overhead: (totalMs - runMs - waitingMs) / (totalMs - waitingMs),
  };
}
