import { uniform } from '../core/random.ts';
import type { RoutingMatrices } from '../routers/simulated.ts';
import { BatchMeans, type BatchMeansOptions, type Estimate } from './batch-means.ts';
import { Load, type LoadRequest } from './load.ts';
import { rowsPerToken } from './rows-per-token.ts';
import { SequentialOracle } from './simulated-answer.ts';
import { SimulatedSystem, type SimulatedSystemOptions } from './simulated-system.ts';

export interface SimulationOptions extends Omit<SimulatedSystemOptions, 'matrices' | 'maxInflight'> {
  matrices: RoutingMatrices;
  /** Requests alive; one that ends is replaced at once. */
  concurrency: number;
  /** Tokens committed in all. */
  totalTokens: number;
  /** Length of every answer. Default 256. */
  tokensPerRequest?: number;
  /** Length of every prompt. Default 16. */
  promptTokens?: number;
  /** Routing changes to the next entry each time so many tokens were committed; the last is followed by the first. */
  shift?: { matrices: readonly RoutingMatrices[]; everyTokens: number };
  /** Told how many tokens were committed so far, after each commit. */
  onProgress?: (tokens: number) => void;
  /** Instead of the closed loop: so many requests with answers of these lengths (both included), and no others. */
  drain?: { numRequests: number; minTokens: number; maxTokens: number };
}

export interface SimulationResult {
  /** After the warm-up, freed of the luck of the routing draws (drain: tokens over time of the whole run). */
  tokensPerSecond: number;
  /** Half the width of the 95 % interval of it, from batch means; NaN for a drain. */
  ci95: number;
  /** Tokens over time as they were, with the wider interval that belongs to it. */
  uncontrolled: Estimate;
  /** Mean rows per step, per model. */
  meanRows: number[];
  /** Mean time of a row from ready to the start of its step, per model. */
  admissionDelayMs: number[];
  /** Share of the time in which an engine of the model runs a step. */
  utilisation: number[];
  tokens: number;
  virtualSeconds: number;
  /** Tokens that differ from the plain sequential loop. */
  mismatches: number;
  seed: number;
}

const WARM_UP_SHARE = 0.05;
const NUM_BATCHES = 40;
const PER_REQUEST_TOKENS = 256;
const PROMPT_TOKENS = 16;

/** Counters of one model at one moment. */
interface Snapshot {
  steps: number;
  rows: number;
  waitUs: number;
  busyUs: number;
}

/** A run of the real actors in virtual time over simulated engines: same options, same result. */
export class Simulation {
  readonly system: SimulatedSystem;
  private readonly options: SimulationOptions;
  private readonly meter: BatchMeans;
  private readonly load: Load;
  private readonly oracle: SequentialOracle;
  private startMs = 0;
  private before: Snapshot[];
  private mismatches = 0;

  constructor(options: SimulationOptions) {
    this.options = options;
    const { concurrency, drain, totalTokens, seed = 0, models, matrices: _matrices, ...rest } = options;
    const numAlive = drain?.numRequests ?? concurrency;
    const matrices = (): RoutingMatrices => this.matricesNow();
    const batches = drain
      ? { totalTokens: Infinity, warmUpTokens: Infinity, numBatches: 1 }
      : batchesOf(totalTokens, options.shift ? options.shift.everyTokens * options.shift.matrices.length : 1);
    this.meter = new BatchMeans(batches, () => this.guestRows());
    this.system = new SimulatedSystem({ ...rest, seed, models, matrices, maxInflight: numAlive });
    this.oracle = new SequentialOracle(
      models.map(({ law }) => law ?? { kind: 'bernoulli' }),
      seed,
    );
    this.before = this.snapshots();
    this.load = new Load(this.system, {
      concurrency: numAlive,
      isReplaced: drain === undefined,
      promptTokens: options.promptTokens ?? PROMPT_TOKENS,
      answerTokens: (index) => this.answerTokens(index),
      seed,
      onTokens: (numTokens) => this.count(numTokens),
      onEnd: (request) => this.check(request),
    });
  }

  /** @throws TokenrailError what a request failed with; `internal` for a hang */
  async run(): Promise<SimulationResult> {
    await this.system.start();
    this.startMs = this.system.clock.nowMs();
    const beginMs = this.startMs;
    await this.load.run(() => this.meter.isOver);
    for (const request of this.load.alive) this.check(request);
    const nowMs = this.system.clock.nowMs();
    const virtualSeconds = (nowMs - beginMs) / 1000;
    const { tokens } = this.meter;
    const { seed = 0 } = this.options;
    const { mismatches } = this;
    return {
      ...this.throughput(virtualSeconds),
      ...this.perModel(nowMs),
      tokens,
      virtualSeconds,
      mismatches,
      seed,
    };
  }

  private throughput(virtualSeconds: number): Estimate & { uncontrolled: Estimate } {
    const { drain, shift, matrices } = this.options;
    const { meter } = this;
    if (drain) {
      const whole = { tokensPerSecond: meter.tokens / virtualSeconds, ci95: NaN };
      return { ...whole, uncontrolled: whole };
    }
    const uncontrolled = meter.plain();
    // Where routing shifts, no single mean is the expected one.
    const controlled = shift ? uncontrolled : meter.controlled(rowsPerToken(matrices).slice(1));
    return { ...controlled, uncontrolled };
  }

  /** Rows so far of all models but the home: what the routing draws decide. */
  private guestRows(): number[] {
    return this.options.models.slice(1).map((_, i) => this.system.counter(i + 2, 'step_rows'));
  }

  private matricesNow(): RoutingMatrices {
    const { shift, matrices } = this.options;
    if (!shift) return matrices;
    const phase = Math.floor((this.meter?.tokens ?? 0) / shift.everyTokens) % shift.matrices.length;
    return shift.matrices[phase] ?? matrices;
  }

  private answerTokens(index: number): number {
    const { drain, tokensPerRequest = PER_REQUEST_TOKENS, seed = 0 } = this.options;
    if (!drain) return tokensPerRequest;
    const { minTokens, maxTokens } = drain;
    const u = uniform({ seed, position: index, model: 2, purpose: 'admission' });
    return minTokens + Math.floor(u * (maxTokens - minTokens + 1));
  }

  private count(numTokens: number): void {
    const { meter } = this;
    const wasWarm = meter.isWarm;
    const nowMs = this.system.clock.nowMs();
    meter.add(numTokens, nowMs);
    this.options.onProgress?.(meter.tokens);
    if (wasWarm || !meter.isWarm) return;
    this.startMs = nowMs;
    this.before = this.snapshots();
  }

  private check(request: LoadRequest): void {
    this.mismatches += this.options.shift
      ? this.oracle.mismatchesGivenWriters(request)
      : this.oracle.mismatches(request, this.options.matrices);
  }

  private snapshots(): Snapshot[] {
    return this.options.models.map((_, i) => ({
      steps: this.system.counter(i + 1, 'steps'),
      rows: this.system.counter(i + 1, 'step_rows'),
      waitUs: this.system.counter(i + 1, 'wait_us'),
      busyUs: this.system.counter(i + 1, 'engine_run_us'),
    }));
  }

  private perModel(nowMs: number): Pick<SimulationResult, 'meanRows' | 'admissionDelayMs' | 'utilisation'> {
    const elapsedUs = (nowMs - this.startMs) * 1000;
    const used = this.snapshots().map((after, i) => {
      const before = this.before[i] ?? after;
      const numReplicas = this.options.models[i]?.replicas ?? 1;
      const rows = after.rows - before.rows;
      return {
        meanRows: ratio(rows, after.steps - before.steps),
        delayMs: ratio(after.waitUs - before.waitUs, 1000 * rows),
        utilisation: ratio(after.busyUs - before.busyUs, elapsedUs * numReplicas),
      };
    });
    return {
      meanRows: used.map(({ meanRows }) => meanRows),
      admissionDelayMs: used.map(({ delayMs }) => delayMs),
      utilisation: used.map(({ utilisation }) => utilisation),
    };
  }
}

/** Batches of whole periods, where routing shifts and so many fit: else their phases would count as chance. */
function batchesOf(totalTokens: number, periodTokens: number): BatchMeansOptions {
  const leastWarmUp = Math.floor(totalTokens * WARM_UP_SHARE);
  const rest = totalTokens - leastWarmUp;
  const perBatch = Math.max(1, Math.floor(rest / NUM_BATCHES / periodTokens)) * periodTokens;
  const numBatches = Math.floor(rest / perBatch);
  if (periodTokens === 1 || numBatches < 2)
    return { totalTokens, warmUpTokens: leastWarmUp, numBatches: NUM_BATCHES };
  return { totalTokens, warmUpTokens: totalTokens - numBatches * perBatch, numBatches };
}

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** {@link Simulation} in one call. */
export function simulate(options: SimulationOptions): Promise<SimulationResult> {
  return new Simulation(options).run();
}
