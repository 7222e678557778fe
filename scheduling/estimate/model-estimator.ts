import type { ModelId } from '../../core/request.ts';
import { RoutingEstimate } from './routing-estimate.ts';
import { curveOf, type StepCurve } from './step-curve.ts';
import { StepTimes, type StepSample } from './step-times.ts';

/** What one replica has measured of its model. */
export interface ModelEstimates {
  /** Share of its rows by the model they go to, in the order of ids; its own = they stay. */
  routing: readonly number[];
  /** Mean tokens that such a row commits. */
  commits: readonly number[];
  curve: StepCurve;
  /** Relative standard deviation of the step times. */
  jitter: number;
  /** Speed while another model runs as well, in (0, 1]. */
  overlapFactor: number;
  /** Rows behind `routing` and `commits`. */
  numOutcomes: number;
  maxNumSeqs: number;
}

export interface ModelEstimatorOptions {
  self: ModelId;
  home: ModelId;
  numModels: number;
  maxNumSeqs: number;
  /** As in {@link RoutingEstimateOptions}. */
  halfLifeOutcomes?: number;
}

/** Watches one model's steps and where its rows go. Pure: time comes with the samples. */
export class ModelEstimator {
  private readonly options: ModelEstimatorOptions;
  private readonly routes: RoutingEstimate;
  private readonly times = new StepTimes();

  constructor(options: ModelEstimatorOptions) {
    this.options = options;
    this.routes = new RoutingEstimate(options);
  }

  /** A row's outcome: the model it went to (its own = it stayed), and the tokens it committed. */
  observeRow(to: ModelId, tokens: number): void {
    this.routes.observe(to, tokens);
  }

  observeStep(sample: StepSample): void {
    this.times.observe(sample);
  }

  /**
   * Expected time of a step with `rows` rows, without contention, in milliseconds; 0 while unknown.
   *
   * @param tokens fed over all rows; default as many as usual
   */
  stepMs(rows: number, tokens?: number): number {
    return this.times.expectMs(rows, tokens);
  }

  get jitter(): number {
    return this.times.jitter;
  }

  get overlapFactor(): number {
    return this.times.overlapFactor;
  }

  /** The contention that the other models have found, 1 = none; believed until the own steps tell. */
  hearOverlapFactor(factor: number): void {
    this.times.factorElsewhere = factor;
  }

  /** Rows behind the shares. */
  get numOutcomes(): number {
    return this.routes.numOutcomes;
  }

  /** Share of the rows that go to `model`; 0 while unknown. */
  shareTo(model: ModelId): number {
    return this.routes.routing()?.[model - 1] ?? 0;
  }

  /** Undefined until a step and a row were seen. */
  estimates(): ModelEstimates | undefined {
    const routing = this.routes.routing();
    const curve = curveOf((rows) => this.stepMs(rows), this.options.maxNumSeqs);
    if (!routing || curve.length === 0) return undefined;
    const { jitter } = this;
    // Only what was found here: a belief that came back from those who had it from here would never end.
    const overlapFactor = this.times.ownOverlapFactor;
    const { maxNumSeqs } = this.options;
    const commits = this.routes.commits((to) => this.commitsUnseen(to));
    const { numOutcomes } = this.routes;
    return { routing, commits, curve, jitter, overlapFactor, numOutcomes, maxNumSeqs };
  }

  /** A guess for ways not seen yet: who stays has a token, and so has a guest that returns; the home hands off without. */
  private commitsUnseen(to: ModelId): number {
    const { self, home } = this.options;
    return to === self || to === home ? 1 : 0;
  }
}
