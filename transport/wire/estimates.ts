import type { LoadEstimates, SchedulingReport } from '../messages.ts';
import { MAX_COUNT, MAX_CURVE_POINTS, MAX_MODEL_ID, MAX_NAME_CHARS } from './limits.ts';
import { cutText, withOptional } from './tuple-codec.ts';
import type { TupleReader } from './tuple-reader.ts';

/** Step times, rates and tokens per row above this are no measurement. */
const MAX_MEASURED = 1e12;

export const isMeasured = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= MAX_MEASURED;

const isCount = (value: unknown): value is number =>
  isMeasured(value) && Number.isInteger(value) && value <= MAX_COUNT;

/** A list of numbers of our own; each passes `check`. */
export function readNumbers(
  reader: TupleReader,
  field: string,
  maxLength: number,
  check: (value: unknown) => value is number,
): number[] {
  const value = reader.raw();
  if (Array.isArray(value) && value.length <= maxLength && value.every(check)) return [...value];
  reader.fail(field);
  return [];
}

const isShare = (value: unknown): value is number => isMeasured(value) && value <= 1;

export function packEstimates(estimates: LoadEstimates): unknown[] {
  const { routing, commits, curve, jitter, overlapFactor, numOutcomes, maxNumSeqs } = estimates;
  return [routing, commits, curve.flat(), jitter, overlapFactor, numOutcomes, maxNumSeqs];
}

export function readEstimates(reader: TupleReader): LoadEstimates {
  return {
    routing: readNumbers(reader, 'routing', MAX_MODEL_ID, isShare),
    commits: readNumbers(reader, 'commits', MAX_MODEL_ID, isMeasured),
    curve: readCurve(reader),
    jitter: reader.number('jitter', 0, MAX_MEASURED),
    overlapFactor: reader.number('overlapFactor', Number.MIN_VALUE, 1),
    numOutcomes: reader.int('numOutcomes'),
    maxNumSeqs: reader.int('maxNumSeqs', 1),
  };
}

/** `[rows, ms, rows, ms, …]`, rows ascending from 1 at least. */
function readCurve(reader: TupleReader): [number, number][] {
  const flat = readNumbers(reader, 'curve', 2 * MAX_CURVE_POINTS, isMeasured);
  const curve: [number, number][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const rows = flat[i] ?? 0;
    if (!isCount(rows) || rows <= (curve[curve.length - 1]?.[0] ?? 0)) reader.fail('curve');
    curve.push([rows, flat[i + 1] ?? 0]);
  }
  if (flat.length % 2 !== 0) reader.fail('curve');
  return curve;
}

export function packScheduling(report: SchedulingReport): unknown[] {
  return [
    cutText(report.policy, MAX_NAME_CHARS),
    cutText(report.reason, MAX_NAME_CHARS),
    report.alive,
    report.threshold ?? null,
    report.predictedTokensPerSecond ?? null,
    report.measuredTokensPerSecond ?? null,
    report.estimates === undefined ? null : packEstimates(report.estimates),
  ];
}

export function readScheduling(reader: TupleReader): SchedulingReport {
  const report: SchedulingReport = {
    policy: reader.text('policy', MAX_NAME_CHARS),
    reason: reader.text('reason', MAX_NAME_CHARS),
    alive: reader.int('alive'),
  };
  return withOptional(report, {
    threshold: reader.optional('threshold', isCount),
    predictedTokensPerSecond: reader.optional('predictedTokensPerSecond', isMeasured),
    measuredTokensPerSecond: reader.optional('measuredTokensPerSecond', isMeasured),
    estimates: reader.tupleOf('estimates', readEstimates),
  });
}
