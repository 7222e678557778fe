import type { ModelEstimates } from '../../../../scheduling/estimate/model-estimator.ts';

/** What a home reports that hands over a share `p` of its rows. */
export const home = (p: number, change: Partial<ModelEstimates> = {}): ModelEstimates => ({
  routing: [1 - p, p],
  commits: [1, 0],
  curve: [[1, 6]],
  jitter: 0,
  overlapFactor: 1,
  numOutcomes: 500,
  maxNumSeqs: 16,
  ...change,
});
/** What a guest reports whose requests all go home. */
export const guest = (change: Partial<ModelEstimates> = {}): ModelEstimates =>
  home(0, {
    routing: [1, 0],
    commits: [1, 0],
    curve: [
      [1, 20],
      [4, 26],
    ],
    ...change,
  });
