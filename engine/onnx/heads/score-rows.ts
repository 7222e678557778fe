import type { RowResult, SampledRow, SignalNeeds } from '../../engine.ts';
import type { StepOutputs } from '../runtime/step-outputs.ts';
import type { Head } from './head.ts';

/**
 * Adds the heads' scores to a step's rows. All positions go through at once; those of rows that failed give
 * numbers that nobody reads.
 * @param positions per row, its position in the run's outputs; -1 where nothing was sampled
 */
export function scoreRows(
  heads: ReadonlyMap<string, Head>,
  needs: SignalNeeds,
  rows: readonly RowResult[],
  positions: readonly number[],
  outputs: StepOutputs,
): void {
  const count = positions.reduce((most, position) => Math.max(most, position + 1), 0);
  if (count === 0) return;
  const sampled = new Array<number>(count).fill(0);
  const scored: { row: SampledRow; position: number; scores: Record<string, number> }[] = [];
  for (const [index, row] of rows.entries()) {
    const position = positions[index] ?? -1;
    if (!row.ok || position < 0) continue;
    sampled[position] = row.sampled;
    scored.push({ row, position, scores: {} });
  }
  for (const { file } of needs.heads ?? []) {
    const values = heads.get(file)?.score(outputs, sampled);
    for (const { position, scores } of scored) scores[file] = values?.[position] ?? NaN;
  }
  for (const { row, scores } of scored) row.scores = scores;
}
