import type { RowResult, SampledRow, SignalNeeds, StepRow } from '../../engine.ts';
import type { StepOutputs } from '../runtime/step-outputs.ts';
import type { Head } from './head.ts';

interface ScoredRow {
  row: SampledRow;
  position: number;
  heads: NonNullable<SignalNeeds['heads']>;
  scores: Record<string, number>;
}

/**
 * Adds to a step's results the scores of the heads that each row wants. A head runs once, over those rows alone.
 * @param needs of rows without any of their own
 * @param positions per row, its position in the run's outputs; -1 where nothing was sampled
 */
export function scoreRows(
  heads: ReadonlyMap<string, Head>,
  needs: SignalNeeds,
  rows: readonly StepRow[],
  results: readonly RowResult[],
  positions: readonly number[],
  outputs: StepOutputs,
): void {
  const scored: ScoredRow[] = [];
  for (const [index, row] of results.entries()) {
    const position = positions[index] ?? -1;
    const wanted = (rows[index]?.needs ?? needs).heads ?? [];
    if (row.ok && position >= 0 && wanted.length > 0)
      scored.push({ row, position, heads: wanted, scores: {} });
  }
  for (const { file } of needs.heads ?? []) {
    const asking = scored.filter((one) => one.heads.some((head) => head.file === file));
    if (asking.length === 0) continue;
    const matrices = outputs.matrices(asking.map(({ position }) => position));
    const values = heads.get(file)?.score(
      matrices,
      asking.map(({ row }) => row.sampled),
    );
    asking.forEach(({ scores }, i) => (scores[file] = values?.[i] ?? NaN));
  }
  for (const { row, scores } of scored) row.scores = scores;
}
