import { AffineFit } from './affine-fit.ts';
import { OverlapEstimate } from './overlap-estimate.ts';
import { RobustMean } from './robust-mean.ts';

/** One finished step. */
export interface StepSample {
  rows: number;
  /** Tokens fed, over all rows. */
  tokens: number;
  ms: number;
  /** For how long of it another model ran, in milliseconds. */
  overlapMs: number;
}

/** Tokens per row up to which a step counts as decoding; above it feeds prompts, and says nothing about later steps. */
const DECODING_TOKENS_PER_ROW = 16;
/** Share of a new step in the scatter. */
const SCATTER_WEIGHT = 0.03;
/** A step counts as at most this much off, relative to what was expected. */
const LARGEST_RESIDUAL = 0.5;
/** Numbers of rows remembered at most. */
const MAX_ROWS = 1024;

/**
 * L(rows, tokens) of one model, without contention. Steps often run on the next larger graph of a ladder, so their time is a
 * staircase: where a number of rows was seen, its own mean counts; an affine fit fills the gaps, kept between its neighbours.
 */
export class StepTimes {
  private readonly fit = new AffineFit();
  private readonly means = new Map<number, RobustMean>();
  private readonly overlap = new OverlapEstimate();
  private extraPerRow = 0;
  private scatter = 0;
  private numSteps = 0;

  observe({ rows, tokens, ms, overlapMs }: StepSample): void {
    if (!(rows >= 1) || rows > MAX_ROWS || !(ms >= 0)) return;
    const extra = Math.max(0, tokens - rows);
    const isDecoding = extra <= rows * DECODING_TOKENS_PER_ROW;
    this.numSteps += 1;
    if (isDecoding) this.overlap.observe(rows, ms, overlapMs);
    const aloneMs = Math.max(0, ms - (1 - this.overlapFactor) * overlapMs);
    this.observeFit(rows, extra, aloneMs);
    if (!isDecoding) return;
    this.extraPerRow += (extra / rows - this.extraPerRow) * Math.max(0.02, 1 / this.numSteps);
    const mean = this.means.get(rows) ?? new RobustMean();
    this.means.set(rows, mean);
    if (mean.numValues > 0 && mean.value > 0) {
      const residual = Math.min(LARGEST_RESIDUAL, Math.abs(aloneMs / mean.value - 1));
      this.scatter += (residual * residual - this.scatter) * SCATTER_WEIGHT;
    }
    mean.observe(aloneMs);
  }

  /** Expected time of a decoding step with `rows` rows, in milliseconds; 0 before the first step. */
  expectMs(rows: number): number {
    const own = this.means.get(rows);
    if (own) return own.value;
    let below: number | undefined;
    let above: number | undefined;
    for (const seen of this.means.keys()) {
      if (seen < rows && seen > (below ?? 0)) below = seen;
      if (seen > rows && seen < (above ?? Infinity)) above = seen;
    }
    const low = below === undefined ? 0 : (this.means.get(below)?.value ?? 0);
    const high = above === undefined ? Infinity : (this.means.get(above)?.value ?? Infinity);
    const fitted = this.numSteps === 0 ? 0 : toMicroseconds(this.fit.predict(rows, this.extraPerRow * rows));
    return Math.max(0, Math.min(Math.max(fitted, low), Math.max(high, low)));
  }

  /** Relative standard deviation of the step times. */
  get jitter(): number {
    return Math.sqrt(this.scatter);
  }

  /** Speed while another model runs as well, in [0.3, 1]. */
  get overlapFactor(): number {
    return this.overlap.factor();
  }

  get count(): number {
    return this.numSteps;
  }

  private observeFit(rows: number, extra: number, ms: number): void {
    const expected = this.fit.predict(rows, extra);
    // The first steps teach freely; later a single one moves the fit by its surprise at most threefold.
    const isTrusted = this.numSteps > 10 && expected > 0;
    this.fit.observe(rows, extra, isTrusted ? Math.min(ms, 3 * expected) : ms);
  }
}

/** No clock resolves more, and the rests of a fit to constants would look like differences. */
const toMicroseconds = (ms: number): number => Math.round(ms * 1000) / 1000;
