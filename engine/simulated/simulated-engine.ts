import type { Clock } from '../../core/clock.ts';
import { TokenrailError } from '../../core/errors.ts';
import type { Engine, EngineInfo, RowResult, StepBatch, StepOutcome, StepRow } from '../engine.ts';
import { describeSimulation } from './describe.ts';
import {
  completeSimulatedOptions,
  type CompleteSimulatedOptions,
  type SimulatedEngineOptions,
} from './options.ts';
import { routingSignals, type RowSignal } from './routing-law.ts';
import { SequenceHash } from './sequence-hash.ts';
import { SimulatedDevice } from './simulated-device.ts';
import { stepDurationMs, type StepLoad } from './step-time.ts';
import { TokenChoice } from './token-choice.ts';

export interface SimulatedEngineDeps {
  clock: Clock;
  /** What the engine runs on, shared with others that slow it down. Default: a device of its own. */
  device?: SimulatedDevice;
  /** Ends what the clock has of its own. */
  onClose?: () => Promise<void>;
}

interface Sequence {
  kv: SequenceHash;
  /** Until it is sampled for the first time, all it feeds is a prompt. */
  isPrefilling: boolean;
  seed: number;
  signal: RowSignal | undefined;
}

const illegal = (message: string): TokenrailError => new TokenrailError('illegal_state', message);

/**
 * An engine without a model: steps take the time that a formula says, tokens are a hash of the whole sequence, signals
 * are drawn. The same class runs in virtual and in real time; its `kind`, `simulated`, shows in every output.
 */
export class SimulatedEngine implements Engine {
  private readonly options: CompleteSimulatedOptions;
  private readonly clock: Clock;
  private readonly device: SimulatedDevice;
  private readonly onClose: (() => Promise<void>) | undefined;
  private readonly choice: TokenChoice;
  private readonly signalOf: (seed: number) => RowSignal;
  private readonly sequences = new Map<number, Sequence>();
  private numSteps = 0;
  private state: 'new' | 'idle' | 'busy' | 'closed' = 'new';
  private closing: Promise<void> | undefined;
  private onIdle: (() => void) | undefined;

  constructor(options: CompleteSimulatedOptions, { clock, device, onClose }: SimulatedEngineDeps) {
    this.options = options;
    this.clock = clock;
    this.onClose = onClose;
    this.device = device ?? new SimulatedDevice(clock);
    this.choice = new TokenChoice(options.modelId, options.vocabSize, options.eosIds);
    this.signalOf = routingSignals(options.law, options.modelId, options.seed);
  }

  start(): Promise<EngineInfo> {
    if (this.state !== 'new') return Promise.reject(illegal('the engine was started before'));
    this.state = 'idle';
    const { vocabSize, maxModelLenTokens, maxNumSeqs, numKvBlocks, blockSizeTokens, eosIds } = this.options;
    return Promise.resolve({
      kind: 'simulated',
      hasRandomWeights: false,
      architecture: 'simulated',
      numParameters: 0,
      vocabSize,
      hiddenSize: 0,
      maxModelLenTokens,
      maxNumSeqs,
      numKvBlocks,
      blockSizeTokens,
      eosIds,
      notes: describeSimulation(this.options),
    });
  }

  step(batch: StepBatch, onDone: (outcome: StepOutcome) => void): void {
    if (this.state !== 'idle') throw illegal(`a step cannot start: the engine is ${this.state}`);
    const startedMs = this.clock.nowMs();
    const load = this.check(batch);
    const { seed, modelId, stepTime } = this.options;
    const durationMs = stepDurationMs(stepTime, load, { seed, step: this.numSteps, modelId });
    this.numSteps += 1;
    this.state = 'busy';
    const rows = batch.rows.map((row) => this.run(row));
    // In real time the work of simulating is a part of the step, and not added to it.
    const elapsedMs = this.clock.nowMs() - startedMs;
    this.device.run(Math.max(0, durationMs - elapsedMs), () => {
      this.state = 'idle';
      const tookMs = this.clock.nowMs() - startedMs;
      onDone({ ok: true, rows, timing: { runMs: tookMs, totalMs: tookMs } });
      this.onIdle?.();
    });
  }

  release(seqs: readonly number[]): void {
    for (const seq of seqs) this.sequences.delete(seq);
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    if (this.state === 'busy') {
      await new Promise<void>((resolve) => {
        this.onIdle = resolve;
      });
    }
    this.state = 'closed';
    this.sequences.clear();
    await this.onClose?.();
  }

  /** Refuses what no cache could answer, and says what the step works on. @throws TokenrailError `illegal_state` */
  private check({ rows }: StepBatch): StepLoad {
    const { maxNumSeqs, maxModelLenTokens } = this.options;
    if (rows.length === 0 || rows.length > maxNumSeqs)
      throw illegal(`a step takes 1 to ${maxNumSeqs} rows, got ${rows.length}`);
    const load: StepLoad = { rows: rows.length, extraTokens: 0, prefillTokens: 0 };
    for (const { seq, past, tokens } of rows) {
      const sequence = this.sequences.get(seq);
      const held = sequence?.kv.length ?? 0;
      if (tokens.length === 0) throw illegal(`sequence ${seq} brings no token`);
      if (past < 0 || past > held) throw illegal(`sequence ${seq}: past ${past} of ${held} tokens`);
      if (past + tokens.length > maxModelLenTokens)
        throw illegal(`sequence ${seq}: longer than ${maxModelLenTokens} tokens`);
      const isPrefilling = past === 0 || (sequence?.isPrefilling ?? true);
      if (isPrefilling) load.prefillTokens += tokens.length - 1;
      else load.extraTokens += tokens.length - 1;
    }
    if (new Set(rows.map(({ seq }) => seq)).size < rows.length)
      throw illegal('a sequence occurs twice in one step');
    return load;
  }

  private run(row: StepRow): RowResult {
    const { seq, past, tokens, sample, sampling } = row;
    const sequence = this.sequenceOf(seq, sampling.seed);
    if (past === 0) sequence.isPrefilling = true;
    const hash = sequence.kv.feed(past, tokens);
    if (!sample) return unsampled(seq);
    sequence.isPrefilling = false;
    sequence.signal ??= this.signalOf(sampling.seed);
    const signal = sequence.signal(past + tokens.length);
    const entropyNats = signal * Math.log(this.options.vocabSize);
    return {
      seq,
      ok: true,
      sampled: this.choice.tokenAfter(hash),
      logprob: -entropyNats,
      entropyNats,
      normalizedEntropy: signal,
      top2Margin: 1 - signal,
    };
  }

  private sequenceOf(seq: number, seed: number): Sequence {
    let sequence = this.sequences.get(seq);
    if (!sequence) {
      sequence = { kv: new SequenceHash(), isPrefilling: true, seed, signal: undefined };
      this.sequences.set(seq, sequence);
    } else if (sequence.seed !== seed) {
      sequence.seed = seed;
      sequence.signal = undefined;
    }
    return sequence;
  }
}

const unsampled = (seq: number): RowResult => ({
  seq,
  ok: true,
  sampled: -1,
  logprob: 0,
  entropyNats: 0,
  normalizedEntropy: 0,
  top2Margin: 0,
});

/** A simulated engine, not yet started. @throws TokenrailError `config_invalid` naming the option */
export function createSimulatedEngine(
  options: SimulatedEngineOptions,
  deps: SimulatedEngineDeps,
): SimulatedEngine {
  return new SimulatedEngine(completeSimulatedOptions(options), deps);
}
