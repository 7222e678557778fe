import { draw } from './draw.ts';
import { runLength, type RunLengthLaw } from './run-lengths.ts';

/** Streams of draws besides those of the requests, which have the numbers from 0. */
export const JITTER_STREAM = 0x4000_0000;
const LENGTH_STREAM = 0x5000_0000;
const RUN_STREAM = 0x2000_0000;

export interface RequestLaws {
  routing: readonly (readonly number[])[];
  /** Index of the home model. */
  home: number;
  runLengths: RunLengthLaw;
  seed: number;
  /** Tokens of a request, drawn evenly; none: they go on for ever (a finished one is replaced at once). */
  lengths?: { minTokens: number; maxTokens: number } | undefined;
}

/** Where each request goes after each of its steps: the same under any policy. */
export class SampledRequests {
  /** Tokens that each may still commit. */
  readonly tokensLeft: Float64Array;
  private readonly laws: RequestLaws;
  private readonly numSteps: Int32Array;
  private readonly numRuns: Int32Array;
  /** Home steps until a request leaves; only where run lengths are not geometric. */
  private readonly runLeft: Int32Array;
  private readonly leaves: number;

  constructor(laws: RequestLaws, concurrency: number) {
    this.laws = laws;
    this.numSteps = new Int32Array(concurrency);
    this.numRuns = new Int32Array(concurrency);
    this.runLeft = new Int32Array(concurrency);
    this.leaves = 1 - (laws.routing[laws.home]?.[laws.home] ?? 0);
    this.tokensLeft = Float64Array.from({ length: concurrency }, (_, request) => this.lengthOf(request));
  }

  /** The model that a request goes to after a step at `model`. */
  next(request: number, model: number): number {
    const { laws, numSteps } = this;
    const count = numSteps[request] ?? 0;
    numSteps[request] = count + 1;
    const u = draw(laws.seed, request, count);
    const row = laws.routing[model] ?? [];
    if (model !== laws.home || laws.runLengths === 'geometric' || this.leaves === 0) return pick(row, u, -1);
    return this.endsRun(request) ? pick(row, u * this.leaves, model) : model;
  }

  /** Counts one home step. Runs are drawn when they begin. */
  private endsRun(request: number): boolean {
    const { laws, runLeft, numRuns } = this;
    if (runLeft[request] === 0) {
      const u = draw(laws.seed, RUN_STREAM + request, numRuns[request] ?? 0);
      numRuns[request] = (numRuns[request] ?? 0) + 1;
      runLeft[request] = runLength(laws.runLengths, 1 / this.leaves, u);
    }
    runLeft[request] = (runLeft[request] ?? 1) - 1;
    return runLeft[request] === 0;
  }

  private lengthOf(request: number): number {
    const { lengths, seed } = this.laws;
    if (!lengths) return Infinity;
    const { minTokens, maxTokens } = lengths;
    return minTokens + Math.floor(draw(seed, LENGTH_STREAM, request) * (maxTokens - minTokens + 1));
  }
}

/** The index that a number falls to when the entries of `row`, without `skip`, are laid one after the other. */
function pick(row: readonly number[], u: number, skip: number): number {
  let left = u;
  let last = 0;
  for (let to = 0; to < row.length; to += 1) {
    const p = row[to] ?? 0;
    if (to === skip || p === 0) continue;
    last = to;
    if (left < p) return to;
    left -= p;
  }
  return last;
}
