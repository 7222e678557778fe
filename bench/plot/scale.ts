/** Round numbers that cover 0 … `max`, about `count` of them. */
export function ticksTo(max: number, count = 5): number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const numSteps = Math.ceil(max / step - 1e-9);
  return Array.from({ length: numSteps + 1 }, (_, i) => i * step);
}

/** A number in few characters. */
export function brief(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return String(Number(value.toPrecision(3)));
}
