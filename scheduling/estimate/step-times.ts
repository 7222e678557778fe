import { AffineFit } from './affine-fit.ts';
import { OverlapEstimate } from './overlap-estimate.ts';
import { QUICK, RobustMean, SLOW } from './robust-mean.ts';

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
/** A step counts as at most this much off, relative to what was expected … */
const LARGEST_RESIDUAL = 0.5;
/** … and at most as so many of the deviations so far, and a little: a single pause is no scatter, many are. */
const MOST_DEVIATIONS = 3;
const LEAST_CLIP = 0.03;
/** Numbers of rows remembered at most. */
const MAX_ROWS = 1024;

/** The overlap factor must change by this much before what was measured is read anew. */
const OTHER_FACTOR = 0.04;
/** Steps remembered as they were, per number of rows, to be read anew. */
const NUM_KEPT = 25;

/** By so much, relatively, a staircase is off the fit: where noise is larger than that, the fit is worth more than few steps. */
const STAIRCASE = 0.15;
/** Jitter up to this much leaves the own mean of a number of rows alone. */
const QUIET = 0.05;
/** Steps that stand behind such a mean at most. */
const EFFECTIVE_STEPS = 99;
/** However few tokens a step has, it takes this part of the usual at least. */
const LEAST_SHARE = 0.1;

/** What is known of steps with one number of rows. */
interface RowsRecord {
  mean: RobustMean;
  kept: StepSample[];
}

/**
 * L(rows, tokens) of one model, without contention. Steps often run on the next larger graph of a ladder, so their time is a
 * staircase: where a number of rows was seen, its own mean counts; an affine fit fills the gaps, kept between its neighbours.
 * Means are of steps with as many tokens as usual: a guest's row brings all that it missed, anything from one token to dozens, and
 * that is no jitter. Where steps scatter nevertheless, means of few steps are drawn towards the fit.
 */
export class StepTimes {
  private fit = new AffineFit();
  private readonly records = new Map<number, RowsRecord>();
  private readonly overlap = new OverlapEstimate();
  /** What others have found: who takes turns with a model on its device may never overlap with it again. */
  factorElsewhere = 1;
  /** Overlap factor that the means were made with. */
  private factor = 1;
  private extraPerRow = 0;
  private scatter = 0;
  private numSteps = 0;

  observe(sample: StepSample): void {
    const { rows, tokens, ms, overlapMs } = sample;
    if (!(rows >= 1) || rows > MAX_ROWS || !(ms >= 0)) return;
    const extra = Math.max(0, tokens - rows);
    this.numSteps += 1;
    if (extra > rows * DECODING_TOKENS_PER_ROW) {
      this.observeFit(rows, extra, this.aloneMs(sample));
      return;
    }
    this.overlap.observe(rows, ms, overlapMs);
    this.extraPerRow += (extra / rows - this.extraPerRow) * Math.max(0.02, 1 / this.numSteps);
    const record = this.records.get(rows) ?? { mean: new RobustMean(), kept: [] };
    this.records.set(rows, record);
    record.kept.push(sample);
    if (record.kept.length > NUM_KEPT) record.kept.shift();
    this.take(record, sample);
    if (Math.abs(this.overlapFactor - this.factor) > OTHER_FACTOR) this.readAnew();
  }

  /**
   * Expected time of a step with `rows` rows, in milliseconds; 0 before the first step.
   *
   * @param tokens fed over all rows; default as many as decoding steps of so many rows usually have
   */
  expectMs(rows: number, tokens?: number): number {
    const usualMs = this.usualMs(rows);
    if (tokens === undefined) return usualMs;
    return Math.max(LEAST_SHARE * usualMs, usualMs + this.moreTokensMs(rows, tokens));
  }

  private usualMs(rows: number): number {
    const own = this.records.get(rows);
    if (own) return this.meanMs(rows, own);
    let below: number | undefined;
    let above: number | undefined;
    for (const seen of this.records.keys()) {
      if (seen < rows && seen > (below ?? 0)) below = seen;
      if (seen > rows && seen < (above ?? Infinity)) above = seen;
    }
    const low = below === undefined ? 0 : this.meanMs(below, this.records.get(below));
    const high = above === undefined ? Infinity : this.meanMs(above, this.records.get(above));
    return Math.max(0, Math.min(Math.max(this.fittedMs(rows), low), Math.max(high, low)));
  }

  /** The own mean; of few steps that scatter, drawn towards the fit by as much as it is the less certain of the two. */
  private meanMs(rows: number, record: RowsRecord | undefined): number {
    if (!record) return 0;
    const { value, numValues } = record.mean;
    const noise = Math.max(0, this.jitter - QUIET) ** 2 / Math.max(1, Math.min(numValues, EFFECTIVE_STEPS));
    if (noise === 0) return value;
    return value + (noise / (noise + STAIRCASE ** 2)) * (this.fittedMs(rows) - value);
  }

  private fittedMs(rows: number): number {
    if (this.numSteps === 0) return 0;
    return Math.max(0, toMicroseconds(this.fit.predict(rows, this.extraPerRow * rows)));
  }

  /** What the tokens beyond those that so many rows usually have take, in milliseconds; negative for fewer. */
  private moreTokensMs(rows: number, tokens: number): number {
    const extra = Math.max(0, tokens - rows) - this.extraPerRow * rows;
    return toMicroseconds(this.fit.perTokenMs * extra);
  }

  /** Relative standard deviation of the step times. */
  get jitter(): number {
    return Math.sqrt(this.scatter);
  }

  /** Speed while another model runs as well, in [0.3, 1]; that of others while the own steps do not tell. */
  get overlapFactor(): number {
    return this.overlap.factor(this.factorElsewhere);
  }

  /** The same from the own steps alone, 1 while they do not tell. */
  get ownOverlapFactor(): number {
    return this.overlap.factor();
  }

  get count(): number {
    return this.numSteps;
  }

  private aloneMs({ ms, overlapMs }: StepSample): number {
    return Math.max(0, ms - (1 - this.factor) * overlapMs);
  }

  private take({ mean }: RowsRecord, sample: StepSample): void {
    const { rows, tokens } = sample;
    const aloneMs = this.aloneMs(sample);
    this.observeFit(rows, Math.max(0, tokens - rows), aloneMs);
    if (mean.numValues > 0 && mean.value > 0) {
      const largest = Math.min(LARGEST_RESIDUAL, MOST_DEVIATIONS * this.jitter + LEAST_CLIP);
      const residual = Math.min(largest, Math.abs(aloneMs / mean.value - 1));
      this.scatter += (residual * residual - this.scatter) * SCATTER_WEIGHT;
    }
    const usualMs = Math.max(LEAST_SHARE * aloneMs, aloneMs - this.moreTokensMs(rows, tokens));
    mean.observe(usualMs, this.jitter > QUIET ? SLOW : QUICK);
  }

  /** Contention was found, or was found to be another: what counted as work was partly waiting for the device. */
  private readAnew(): void {
    this.factor = this.overlapFactor;
    this.fit = new AffineFit();
    this.scatter = 0;
    for (const record of this.records.values()) {
      record.mean = new RobustMean();
      for (const sample of record.kept) this.take(record, sample);
    }
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
