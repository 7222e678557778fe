/** Step time by rows, ascending: `[rows, milliseconds]`. */
export type StepCurve = readonly (readonly [number, number])[];

/** Numbers of rows at which a curve is told: dense where ladders of graphs have their steps. */
const RUNGS = [
  1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 128, 192, 256, 384, 512, 768,
  1024,
];

/** The curve of `stepMs` up to the largest step. Empty while it knows nothing. */
export function curveOf(stepMs: (rows: number) => number, maxNumSeqs: number): StepCurve {
  const rungs = RUNGS.filter((rows) => rows < maxNumSeqs);
  const largest = Math.min(maxNumSeqs, RUNGS[RUNGS.length - 1] ?? 1);
  const points = [...rungs, largest].map((rows): [number, number] => [rows, stepMs(rows)]);
  return points.every(([, ms]) => ms > 0) ? points : [];
}

/** Step time with `rows` rows: straight between the points of the curve, constant beyond; 0 for an empty one. */
export function curveMs(curve: StepCurve, rows: number): number {
  let before: readonly [number, number] | undefined;
  for (const point of curve) {
    if (point[0] >= rows) return before === undefined ? point[1] : between(before, point, rows);
    before = point;
  }
  return before?.[1] ?? 0;
}

function between(a: readonly [number, number], b: readonly [number, number], rows: number): number {
  return a[1] + ((b[1] - a[1]) * (rows - a[0])) / (b[0] - a[0]);
}
