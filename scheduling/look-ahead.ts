import { holdOrStart, rowsWithinReach } from './escapes.ts';
import { waitForEndMs } from './expected-end.ts';
import type { Decision, QueueView, StartPolicy } from './policy.ts';

export interface LookAheadOptions {
  /**
   * How gladly it holds, ≥ 0: what an arrival saves counts this much against what the rows that wait lose. Default at
   * guests 0.9; at the home 1, less where step times scatter ({@link HOME_KAPPA_PER_JITTER}).
   */
  kappa?: number | undefined;
  /** No row waits longer than this, in milliseconds. */
  maxWaitMs: number;
}

const HOME_KAPPA = 1;
const GUEST_KAPPA = 0.9;
/**
 * A home that holds times itself to the end of one step, which jitter spoils; a guest that holds only gathers rows.
 * Measured with samples at 10 and 30 % jitter: widening κ at either side loses (guests at κ = 1.5 up to 3 %), narrowing it
 * at the home gains 0.3 % at 30 %.
 */
const HOME_KAPPA_PER_JITTER = 2;

/** Holds exactly while waiting for completions elsewhere pays: {@link worthwhileHoldMs}. */
export function lookAheadPolicy({ kappa, maxWaitMs }: LookAheadOptions): StartPolicy {
  const decide = (view: QueueView): Decision => {
    if (view.waiting >= rowsWithinReach(view)) return { kind: 'start' };
    return holdOrStart(view, maxWaitMs, worthwhileHoldMs(view, kappa));
  };
  return { name: kappa === undefined ? 'look-ahead' : `look-ahead(${kappa})`, decide };
}

/**
 * How long to hold for completions elsewhere, in milliseconds; 0 = start.
 *
 * Take the peers' steps in flight in the order in which they end, the m-th after w_m, and let a_m rows be expected here
 * from the first m. Starting now, those rows would wait until this step ends, L; holding until w_m, each saves L − w_m,
 * and the k rows that wait lose w_m each. So hold iff for some m
 *
 *     k · w_m < κ · a_m · (L − w_m)
 *
 * (the look-ahead hold; with one peer and constant steps it is the rule that dynamic programming finds for two models).
 * Where larger steps take longer, joining makes the step longer for the k rows, by D = L(k + a_m) − L(k), and saves the
 * arrivals a step of their own, L(a_m), instead of L: all of it where a step costs the same with any rows, nothing where
 * it costs as much per row as alone:
 *
 *     k · (w_m + D) < κ · a_m · (L(a_m) − D − w_m)
 *
 * With contention φ < 1, starting now also slows whoever runs: while both do, for o = min(w_m, L) of work, each loses
 * o (1/φ − 1). The b rows running there gain that much from a hold, and the k rows here lose that much less:
 *
 *     k · (w_m + D − o (1/φ − 1)) < κ · (a_m · (L(a_m) − D − w_m)⁺ + b · o (1/φ − 1))
 *
 * What is unknown (a step time or share of 0) never pays, so it starts.
 */
export function worthwhileHoldMs(view: QueueView, kappa = defaultKappa(view)): number {
  const stepMs = view.stepMs(view.waiting);
  if (!(stepMs > 0)) return 0;
  const awaited = view.peers.filter((peer) => waitForEndMs(view, peer) > 0);
  awaited.sort((a, b) => a.stepLeftMs - b.stepLeftMs);
  const slowdown = 1 / view.overlapFactor - 1;
  let arrivals = 0;
  let running = 0;
  for (const peer of awaited) {
    arrivals += peer.rowsRunning * peer.shareToHere;
    running += peer.rowsRunning;
    const endMs = Math.max(0, peer.stepLeftMs);
    const lostMs = Math.min(endMs, stepMs) * slowdown;
    const longerMs = Math.max(0, stepMsAt(view, view.waiting + arrivals) - stepMs);
    const savedMs = Math.max(0, stepMsAt(view, arrivals) - longerMs - endMs);
    const cost = view.waiting * (endMs + longerMs - lostMs);
    const gain = arrivals * savedMs + running * lostMs;
    if (cost < kappa * gain) return waitForEndMs(view, peer);
  }
  return 0;
}

/** Step time of an expected number of rows: between the whole numbers around it. */
function stepMsAt(view: QueueView, rows: number): number {
  const within = Math.min(Math.max(1, rows), view.maxNumSeqs);
  const below = Math.floor(within);
  const belowMs = view.stepMs(below);
  return below === within ? belowMs : belowMs + (within - below) * (view.stepMs(below + 1) - belowMs);
}

function defaultKappa(view: QueueView): number {
  if (view.self !== view.home) return GUEST_KAPPA;
  return Math.max(0, HOME_KAPPA - HOME_KAPPA_PER_JITTER * view.stepJitter);
}
