/** One line of the table. */
export interface Measurement {
  name: string;
  value: number;
  unit: 'ms' | '×' | '%';
  /** The value must not exceed this. */
  atMost?: number;
  /** The value must reach this. */
  atLeast?: number;
}

/** Undefined where there is no bound. */
export function isWithinBound({ value, atMost, atLeast }: Measurement): boolean | undefined {
  if (atMost === undefined && atLeast === undefined) return undefined;
  return value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity);
}

export function formatMeasurement(measurement: Measurement): string {
  const { name, value, unit, atMost, atLeast } = measurement;
  const digits = unit === '×' ? 3 : 2;
  const bound = atMost !== undefined ? `≤ ${atMost}` : atLeast !== undefined ? `≥ ${atLeast}` : '';
  const isWithin = isWithinBound(measurement);
  const verdict = isWithin === undefined ? '' : isWithin ? 'pass' : 'FAIL';
  return `  ${name.padEnd(64)} ${value.toFixed(digits).padStart(9)} ${unit.padEnd(2)} ${bound.padEnd(8)} ${verdict}`.trimEnd();
}
