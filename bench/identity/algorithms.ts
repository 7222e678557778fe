import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { RouterEntry } from '../../core/deployment.ts';
import { defaultHeadFile } from '../../deploy/config/head-files.ts';
import { readModelConfig } from '../../engine/onnx/checkpoint/read-config.ts';
import { chat, mapConcurrently } from '../lib/chat-client.ts';
import type { Problem } from '../lib/problems.ts';
import { writeRandomHead, type HeadKind } from '../lib/random-head-file.ts';
import { startSystem, type System } from '../lib/system.ts';
import { compareAnswers, type Comparison } from './compare.ts';
import { modelDir } from '../lib/model-dir.ts';
import { MAX_NUM_BATCHED_TOKENS, referenceAnswers, type Mode } from './reference-answers.ts';
import type { ReferenceAnswer } from './reference-loop.ts';

export const ALGORITHMS = ['r-stitch', 'r2r', 'citer', 'co-llm', 'co-llm-compose', 'ensemble'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

/** Whose networks decide: those that were trained for the embedded pair, or random ones. */
export type Heads = 'trained' | 'random';

const MODEL_NAMES = ['small', 'medium', 'large'];

/** Ensembles need sampling; all others are greedy. Draws are keyed by these seeds in system and loop alike. */
const modeOf = (algorithm: Algorithm): Mode =>
  algorithm === 'ensemble'
    ? { name: 'temperature 0.8', temperature: 0.8, seed: (index) => 1000 + index }
    : { name: 'greedy', temperature: 0, seed: () => 0 };

/** With these the random networks send a good part of the tokens either way. */
const RANDOM_THRESHOLD = '0.5';
const RANDOM_SEED = 5;

function headOf(kind: HeadKind, heads: Heads, dir: string): string {
  const home = modelDir(MODEL_NAMES[0] ?? '');
  if (heads === 'trained') return defaultHeadFile(home, kind);
  const { hiddenSize } = readModelConfig(home);
  const size = { hiddenSize, seed: RANDOM_SEED, widths: [64, 64] };
  return writeRandomHead(join(dir, `${kind}.safetensors`), kind, size, { threshold: RANDOM_THRESHOLD });
}

/** Whether the networks that were trained for the embedded pair are there. */
export const hasTrainedHeads = (): boolean =>
  (['r2r', 'citer', 'co-llm'] as const).every((kind) => existsSync(headOf(kind, 'trained', '')));

function routersFor(heads: Heads, dir: string): RouterEntry[] {
  const coLlm = headOf('co-llm', heads, dir);
  const entry = (id: Algorithm, use: string, options: RouterEntry['options']): RouterEntry => ({
    id,
    use,
    options,
  });
  return [
    entry('r-stitch', 'r-stitch', { threshold: 0.02 }),
    entry('r2r', 'r2r', { head: headOf('r2r', heads, dir) }),
    entry('citer', 'citer', { head: headOf('citer', heads, dir) }),
    entry('co-llm', 'co-llm', { head: coLlm }),
    entry('co-llm-compose', 'co-llm', { head: coLlm, strategy: 'compose' }),
    entry('ensemble', 'ensemble', { weights: { small: 0.5, medium: 0.3, large: 0.2 } }),
  ];
}

/** A running system of three models that offers every algorithm, and what the plain loop answers instead. */
export class AlgorithmIdentity {
  private readonly routers: readonly RouterEntry[];
  private readonly system: System;
  private readonly dir: string;
  private readonly maxTokens: number;
  /** By algorithm; the prompts are those that the system itself reports. */
  private readonly references = new Map<Algorithm, ReferenceAnswer[]>();

  private constructor(routers: readonly RouterEntry[], system: System, dir: string, maxTokens: number) {
    this.routers = routers;
    this.system = system;
    this.dir = dir;
    this.maxTokens = maxTokens;
  }

  /** @param maxTokens of an answer */
  static async start({ heads, maxTokens }: { heads: Heads; maxTokens: number }): Promise<AlgorithmIdentity> {
    const dir = mkdtempSync(join(tmpdir(), 'tokenrail-identity-'));
    try {
      const routers = routersFor(heads, dir);
      const models = MODEL_NAMES.map((name) => ({ name, path: modelDir(name) }));
      const config = join(dir, 'config.yaml');
      writeFileSync(config, stringify({ models, routers, 'max-num-batched-tokens': MAX_NUM_BATCHED_TOKENS }));
      const system = await startSystem(['--config', config, '--policy', 'eager', '--log-level', 'error']);
      return new AlgorithmIdentity(routers, system, dir, maxTokens);
    } catch (thrown) {
      rmSync(dir, { recursive: true });
      throw thrown;
    }
  }

  /**
   * Answers to the same problems on every call for an algorithm, `concurrency` at a time, compared token by token and
   * writer by writer.
   */
  async compare(
    algorithm: Algorithm,
    problems: readonly Problem[],
    concurrency: number,
  ): Promise<Comparison> {
    const mode = modeOf(algorithm);
    const { temperature } = mode;
    const answers = await mapConcurrently(problems, concurrency, ({ question }, index) => {
      const seed = mode.seed(index);
      const options = { router: algorithm, temperature, seed, max_tokens: this.maxTokens };
      return chat(this.system.url, question, options);
    });
    const router = this.routers.find(({ id }) => id === algorithm);
    if (router === undefined) throw new Error(`no router ${algorithm}`);
    let references = this.references.get(algorithm);
    if (references === undefined) {
      const prompts = answers.map(({ promptIds }) => promptIds);
      references = await referenceAnswers(MODEL_NAMES, router, prompts, { mode, maxTokens: this.maxTokens });
      this.references.set(algorithm, references);
    }
    return compareAnswers(answers, references, MODEL_NAMES);
  }

  async stop(): Promise<void> {
    await this.system.stop();
    rmSync(this.dir, { recursive: true });
  }
}
