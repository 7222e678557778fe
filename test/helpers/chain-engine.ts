import type { Clock } from '../../core/clock.ts';
import { TokenrailError } from '../../core/errors.ts';
import { uniform } from '../../core/random.ts';
import type { SamplingParams } from '../../core/request.ts';
import type {
  Engine,
  EngineInfo,
  RowResult,
  SampledRow,
  SignalNeeds,
  StepBatch,
  StepOutcome,
  StepRow,
} from '../../engine/engine.ts';
import { logSumExp } from '../../routers/log-sum-exp.ts';

/** What a scripted model says after a sequence of tokens. */
export interface Say {
  token: number;
  entropy: number;
  /** Plays a row whose logits are not finite. */
  isBroken?: boolean;
  /** What every head says. */
  score?: number;
  /** Of the whole vocabulary, for routers that look at them. */
  logits?: readonly number[];
}

type SaidSignals = Pick<SampledRow, 'scores' | 'logSumExp' | 'topValues' | 'topIds' | 'logits'>;

/** What the engine would tell routers of it. */
export function signalsOf({ score = NaN, logits }: Say, needs: SignalNeeds): SaidSignals {
  const signals: SaidSignals = {};
  if (needs.heads) signals.scores = Object.fromEntries(needs.heads.map(({ file }) => [file, score]));
  if (logits === undefined) return signals;
  signals.logSumExp = logSumExp(logits);
  if (needs.logits) signals.logits = Float32Array.from(logits);
  if (needs.topK !== undefined) {
    const order = [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0)).slice(0, needs.topK);
    signals.topIds = Int32Array.from(order);
    signals.topValues = Float32Array.from(order, (id) => logits[id] ?? NaN);
  }
  return signals;
}

/** A scripted language model: a pure function of the whole sequence, so any mix-up of KV changes its answer. */
export type ScriptedModel = (tokens: readonly number[], sampling: SamplingParams) => Say;

export interface ChainEngineOptions {
  model: ScriptedModel;
  clock: Clock;
  stepMs?: (rows: number, tokens: number) => number;
  info?: Partial<EngineInfo>;
  /** Makes the n-th step (from 0) fail as a whole. */
  failsAtStep?: (n: number) => boolean;
}

/**
 * An engine with real bookkeeping and a scripted model: it keeps the fed tokens per sequence exactly as a KV
 * cache would, so a wrong `past`, a lost rollback or a row of another request shows in what it says.
 */
export class ChainEngine implements Engine {
  readonly kv = new Map<number, number[]>();
  /** Feed lengths and rows of every step, for assertions. */
  readonly steps: { rows: { seq: number; past: number; count: number }[] }[] = [];
  isClosed = false;
  private readonly options: ChainEngineOptions;
  private inFlight = false;

  constructor(options: ChainEngineOptions) {
    this.options = options;
  }

  start(): Promise<EngineInfo> {
    return Promise.resolve({
      kind: 'scripted',
      hasRandomWeights: false,
      architecture: 'scripted',
      numParameters: 0,
      vocabSize: 1000,
      hiddenSize: 1,
      maxModelLenTokens: 4096,
      maxNumSeqs: 8,
      numKvBlocks: 4096,
      blockSizeTokens: 16,
      eosIds: [0],
      notes: [],
      ...this.options.info,
    });
  }

  step(batch: StepBatch, onDone: (outcome: StepOutcome) => void): void {
    if (this.inFlight) throw new TokenrailError('illegal_state', 'a step is in flight');
    this.inFlight = true;
    const numTokens = batch.rows.reduce((sum, row) => sum + row.tokens.length, 0);
    const index = this.steps.length;
    this.steps.push({
      rows: batch.rows.map(({ seq, past, tokens }) => ({ seq, past, count: tokens.length })),
    });
    const durationMs = this.options.stepMs?.(batch.rows.length, numTokens) ?? 1;
    this.options.clock.setTimer(durationMs, () => {
      this.inFlight = false;
      if (this.options.failsAtStep?.(index)) onDone({ ok: false, error: new Error('scripted failure') });
      else
        onDone({
          ok: true,
          rows: batch.rows.map((row) => this.run(row, row.needs ?? batch.needs)),
          timing: { runMs: durationMs, totalMs: durationMs },
        });
    });
  }

  release(seqs: readonly number[]): void {
    for (const seq of seqs) this.kv.delete(seq);
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  private run(row: StepRow, needs: SignalNeeds): RowResult {
    const before = row.past === 0 ? [] : this.kv.get(row.seq);
    if (!before || before.length < row.past)
      throw new Error(`row ${row.seq}: KV holds less than past ${row.past}`);
    if (row.tokens.length === 0) throw new Error(`row ${row.seq}: nothing to feed`);
    const tokens = [...before.slice(0, row.past), ...row.tokens];
    this.kv.set(row.seq, tokens);
    const nothing = { logprob: 0, entropyNats: 0, normalizedEntropy: 0, top2Margin: 1 };
    if (!row.sample) return { seq: row.seq, ok: true, sampled: -1, ...nothing };
    const said = this.options.model(tokens, row.sampling);
    const { token, entropy } = said;
    if (said.isBroken) return { seq: row.seq, ok: false, code: 'numerical_failure', message: 'scripted NaN' };
    return {
      seq: row.seq,
      ok: true,
      sampled: token,
      ...nothing,
      normalizedEntropy: entropy,
      ...signalsOf(said, needs),
    };
  }
}

/** FNV-1a over the sequence: a number that changes with every token and every position. */
export function hashTokens(tokens: readonly number[], salt: number): number {
  let hash = (0x811c9dc5 ^ salt) >>> 0;
  for (const token of tokens) hash = Math.imul(hash ^ (token + 1), 0x01000193) >>> 0;
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
}

/**
 * A pair of scripted models over 1,000 tokens. The small one is unsure at about `pUnsure` of the positions and
 * wrong at most of those; the large one stays unsure for spans of mean length `meanSpan`. With a temperature
 * the keyed draw decides as well, so seeds matter.
 */
export function scriptedPair(pUnsure = 0.3, meanSpan = 2): { small: ScriptedModel; large: ScriptedModel } {
  const nextToken = (
    tokens: readonly number[],
    salt: number,
    sampling: SamplingParams,
    model: number,
  ): number => {
    const hash = hashTokens(tokens, salt);
    const draw =
      sampling.temperature > 0
        ? Math.floor(uniform({ seed: sampling.seed, position: tokens.length, model, purpose: 'sample' }) * 7)
        : 0;
    const token = (hash + draw * 131) % 1000;
    return token === 0 && hash % 3 !== 0 ? 1 : token; // the end stays rare
  };
  const chance = (tokens: readonly number[], salt: number): number =>
    hashTokens(tokens, salt) / 0x1_0000_0000;
  return {
    small: (tokens, sampling) => {
      const isUnsure = chance(tokens, 11) < pUnsure;
      return { token: nextToken(tokens, isUnsure ? 101 : 100, sampling, 1), entropy: isUnsure ? 0.5 : 0.001 };
    },
    large: (tokens, sampling) => ({
      token: nextToken(tokens, 100, sampling, 2),
      entropy: chance(tokens, 13) < 1 - 1 / meanSpan ? 0.5 : 0.001,
    }),
  };
}
