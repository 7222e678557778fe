import type { SystemSpec } from '../planner/plan.ts';
import type { MeasuredSystem } from './system-of.ts';

/** How far estimates may wander before they count as another system. */
export interface Tolerance {
  /** Of a share of rows, relative. */
  routing: number;
  /** The same in standard deviations of an estimate from as many rows: what noise does is no move. */
  deviations: number;
  /** Of a step time, relative. */
  stepMs: number;
  /** Of the overlap factor. */
  overlap: number;
  /** So much of the jitter is added to both: what scatters is known less well. */
  jitter: number;
}

/** A new plan is asked for. */
export const MATERIAL: Tolerance = {
  routing: 0.15,
  deviations: 2.5,
  stepMs: 0.05,
  overlap: 0.03,
  jitter: 0.5,
};

/** Rows that stand behind an estimate at most: it forgets. */
const EFFECTIVE_OUTCOMES = 200;

/** Whether a share has moved by more than the tolerance and its noise explain. */
export function hasShareMoved(
  before: number,
  now: number,
  numOutcomes: number,
  tolerance: Tolerance,
): boolean {
  const effective = Math.min(EFFECTIVE_OUTCOMES, Math.max(1, numOutcomes));
  // A share of 0 has noise too: one row more would have changed it.
  const share = Math.max(before, 1 / effective);
  const deviation = Math.sqrt((share * Math.max(0, 1 - share)) / effective);
  return Math.abs(now - before) > Math.max(tolerance.routing * before, tolerance.deviations * deviation);
}

/** Whether requests go other ways, or there are other replicas: no matter of noise in step times. */
export function hasLoadMoved(
  before: SystemSpec,
  { system: now, numOutcomes }: MeasuredSystem,
  tolerance: Tolerance = MATERIAL,
): boolean {
  if (before.routing.length !== now.routing.length) return true;
  if (now.replicas?.some((count, i) => count !== before.replicas?.[i])) return true;
  if (now.maxNumSeqs?.some((rows, i) => rows !== before.maxNumSeqs?.[i])) return true;
  return now.routing.some((row, i) =>
    row.some((share, j) => hasShareMoved(before.routing[i]?.[j] ?? 0, share, numOutcomes[i] ?? 0, tolerance)),
  );
}

/** Whether a plan made for `before` should be made anew. */
export function hasMoved(
  before: SystemSpec,
  measured: MeasuredSystem,
  tolerance: Tolerance = MATERIAL,
): boolean {
  if (hasLoadMoved(before, measured, tolerance)) return true;
  const { system: now } = measured;
  const blur = tolerance.jitter * Math.max(0, ...(now.jitter ?? []));
  if (Math.abs(before.overlapFactor - now.overlapFactor) > tolerance.overlap + blur) return true;
  return now.stepMs.some((table, i) =>
    haveTimesMoved(
      before.stepMs[i] ?? [],
      table,
      tolerance.stepMs + tolerance.jitter * (now.jitter?.[i] ?? 0),
    ),
  );
}

/** Over the rows of both tables. Large numbers of rows are seen rarely and known least: the mean counts, not the worst. */
function haveTimesMoved(before: readonly number[], now: readonly number[], tolerance: number): boolean {
  const common = now.slice(0, before.length);
  const off = common.map((ms, i) => Math.abs(ms / (before[i] ?? ms) - 1));
  return off.reduce((sum, value) => sum + value, 0) / off.length > tolerance;
}
