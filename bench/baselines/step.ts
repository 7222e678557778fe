import type { Engine, SampledRow, SignalNeeds, StepRow } from '../../engine/engine.ts';

/** Results of the rows that sampled; undefined for a part of a prompt. */
export type StepResults = (SampledRow | undefined)[];

/** One engine step as a promise. @throws Error when the engine or a row fails */
export function step(engine: Engine, rows: readonly StepRow[], needs: SignalNeeds): Promise<StepResults> {
  return new Promise((resolve, reject) => {
    engine.step({ rows, needs }, (outcome) => {
      if (!outcome.ok) return reject(outcome.error);
      const failed = outcome.rows.find((row) => !row.ok);
      if (failed?.ok === false) return reject(new Error(failed.message));
      resolve(outcome.rows.map((row, i) => (row.ok && rows[i]?.sample ? row : undefined)));
    });
  });
}
