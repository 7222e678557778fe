import type { ModelId } from '../../core/request.ts';
import type { ModelEstimates } from '../estimate/model-estimator.ts';
import { curveMs } from '../estimate/step-curve.ts';
import type { SystemSpec } from '../planner/plan.ts';

/** Rows behind the routing of each model before anything is planned on it. */
const LEAST_OUTCOMES = 40;

/** Of a model that nobody has measured yet. */
const MAX_ROWS = 1024;

/** Estimates of the replicas of one model. */
export type ModelReports = readonly ModelEstimates[];

/** A system with the number of rows behind the routing of each of its models. */
export interface MeasuredSystem {
  system: SystemSpec;
  numOutcomes: readonly number[];
}

/**
 * The system that the replicas' estimates describe: means over the replicas of a model. Undefined while any model has not been
 * seen enough; a model to which nobody goes need not be.
 *
 * @param models by model, in the order of ids
 * @param aliveMax step times are given for 1 … aliveMax rows
 */
export function systemOf(
  models: readonly ModelReports[],
  home: ModelId,
  aliveMax: number,
): MeasuredSystem | undefined {
  const homeRouting = meanOf(models[home - 1] ?? [], ({ routing }) => routing);
  if (!homeRouting) return undefined;
  // A model may be reached through another guest only.
  const isUsed = models.map(
    (_, j) =>
      j === home - 1 ||
      models.some((reports, i) => i !== j && reports.some((one) => (one.routing[j] ?? 0) > 0)),
  );
  const isKnown = models.every((reports, j) => !isUsed[j] || totalOutcomes(reports) >= LEAST_OUTCOMES);
  if (!isKnown) return undefined;
  const rows = models.map(
    (reports) => meanOf(reports, ({ routing }) => routing) ?? unused(models.length, home),
  );
  const claims = models.flatMap((reports) => reports.map(({ overlapFactor }) => overlapFactor));
  const contended = claims.filter((factor) => factor < 1);
  const system: SystemSpec = {
    routing: rows.map((row) => normalized(row)),
    commits: models.map((reports) => meanOf(reports, ({ commits }) => commits) ?? models.map(() => 1)),
    stepMs: models.map((reports) => stepTimes(reports, aliveMax)),
    overlapFactor: contended.length > 0 ? mean(contended) : 1,
    replicas: models.map((reports) => Math.max(1, reports.length)),
    maxNumSeqs: models.map((reports) => Math.min(...reports.map(({ maxNumSeqs }) => maxNumSeqs), MAX_ROWS)),
    jitter: models.map((reports) => (reports.length > 0 ? mean(reports.map(({ jitter }) => jitter)) : 0)),
    home,
  };
  return { system, numOutcomes: models.map(totalOutcomes) };
}

const totalOutcomes = (reports: ModelReports): number =>
  reports.reduce((sum, { numOutcomes }) => sum + numOutcomes, 0);

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function meanOf(
  reports: ModelReports,
  list: (estimates: ModelEstimates) => readonly number[],
): number[] | undefined {
  const [first] = reports;
  return first && list(first).map((_, j) => mean(reports.map((one) => list(one)[j] ?? 0)));
}

/** Where nobody goes, whoever came would go home. */
function unused(numModels: number, home: ModelId): number[] {
  return Array.from({ length: numModels }, (_, j) => (j === home - 1 ? 1 : 0));
}

function normalized(row: readonly number[]): number[] {
  const sum = row.reduce((total, share) => total + share, 0);
  return row.map((share) => share / sum);
}

/** Step time by rows; of a model that nobody uses any positive number does. */
function stepTimes(reports: ModelReports, aliveMax: number): number[] {
  return Array.from({ length: aliveMax }, (_, i) =>
    reports.length > 0 ? Math.max(1e-3, mean(reports.map(({ curve }) => curveMs(curve, i + 1)))) : 1,
  );
}
