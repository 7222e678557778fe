import { toTokenrailError } from '../../core/errors.ts';
import { Checkpoint } from './checkpoint/checkpoint.ts';
import { DummyWeights } from './checkpoint/dummy-weights.ts';
import type { ModelConfig } from './checkpoint/model-config.ts';
import { readModelConfig } from './checkpoint/read-config.ts';
import { buildDecoderGraph } from './graph/decoder-graph.ts';
import type { Head } from './heads/head.ts';
import { describeHead, loadHeads } from './heads/load-heads.ts';
import { checkFit, openHeads, type OpenHead } from './heads/open-head.ts';
import { engineLimits, type EngineLimits } from './limits.ts';
import { ModelFiles } from './model-files.ts';
import type { ResolvedOptions } from './options.ts';
import { GraphSlots } from './runtime/graph-slots.ts';
import { openSession, type Session } from './runtime/ort-session.ts';
import { RaggedRunner } from './runtime/ragged-runner.ts';
import { findInPlaceFault } from './runtime/self-test.ts';
import { SequenceCache } from './runtime/sequence-cache.ts';
import { StepOutputs } from './runtime/step-outputs.ts';
import { writeWeights } from './weights/write-weights.ts';

/** Above this, float32 weights are shared between the graphs instead of being packed for each (about 10 % slower). */
const MAX_PACKED_FLOAT_BYTES = 256 * 1024 * 1024;
const SELF_TEST_TOKENS = 8;

export interface LoadedModel {
  config: ModelConfig;
  limits: EngineLimits;
  runner: RaggedRunner;
  /** By the file that their spec names. */
  heads: ReadonlyMap<string, Head>;
  files: ModelFiles;
  notes: readonly string[];
}

/**
 * @param open opens a graph; tests put faulty sessions in its place
 * @throws TokenrailError `checkpoint_invalid`, `config_invalid`, `engine_failed`
 */
export function loadModel(options: ResolvedOptions, open: typeof openSession = openSession): LoadedModel {
  const config = readModelConfig(options.modelDir);
  const opened = openHeads(options.heads);
  try {
    const topK = Math.max(options.topK, ...opened.map(({ shape }) => shape.topK));
    const limits = engineLimits(config, { ...options, topK });
    for (const head of opened) checkFit(head, config, limits.sampledVocab);
    return loadFiles(options, config, limits, opened, open);
  } finally {
    for (const { file } of opened) file.close();
  }
}

function loadFiles(
  options: ResolvedOptions,
  config: ModelConfig,
  limits: EngineLimits,
  opened: readonly OpenHead[],
  open: typeof openSession,
): LoadedModel {
  const source =
    options.loadFormat === 'dummy'
      ? new DummyWeights(options.seedForDummy, !config.tieWordEmbeddings)
      : Checkpoint.open(options.modelDir, config);
  const files = new ModelFiles();
  const sessions: Session[] = [];
  try {
    writeWeights(files.weights, config, source, {
      quantization: options.quantization,
      maxModelLenTokens: limits.maxModelLenTokens,
    });
    const sharesWeights =
      options.quantization === 'none' && files.weights.totalBytes > MAX_PACKED_FLOAT_BYTES;
    return openGraphs(options, config, limits, opened, files, (path) => {
      const session = open(path, { numThreads: options.numThreads, sharesWeights });
      sessions.push(session);
      return session;
    });
  } catch (error) {
    for (const session of sessions) session.dispose();
    files.close();
    throw toTokenrailError(error, 'engine_failed');
  } finally {
    source.close();
  }
}

function openGraphs(
  options: ResolvedOptions,
  config: ModelConfig,
  limits: EngineLimits,
  opened: readonly OpenHead[],
  files: ModelFiles,
  open: (path: string) => Session,
): LoadedModel {
  const runner = openLadder(config, limits, files, open);
  const notes = [...describe(options, limits, files), ...opened.map(describeHead)];
  const heads = new Map(loadHeads(opened, files, limits.topK, open).map((head) => [head.file, head]));
  files.removeNames();
  const kvNote = chooseKvPath(runner, config, limits, options.forceCopiedKv);
  return { config, limits, runner, heads, files, notes: [kvNote, ...notes] };
}

function openLadder(
  config: ModelConfig,
  limits: EngineLimits,
  files: ModelFiles,
  open: (path: string) => Session,
): RaggedRunner {
  const spec = { config, topK: limits.topK, sampledVocab: limits.sampledVocab };
  const idle = new SequenceCache(config, 1);
  const ladder = limits.ladderRows.map((rows) => {
    const path = files.writeGraph(`decoder-${rows}`, buildDecoderGraph(files.weights, { ...spec, rows }));
    return new GraphSlots(open(path), rows, config.numLayers, idle);
  });
  return new RaggedRunner(ladder, new StepOutputs(spec), 'in-place');
}

/** Sets the runner's path and says which and why. */
function chooseKvPath(
  runner: RaggedRunner,
  config: ModelConfig,
  limits: EngineLimits,
  forceCopied: boolean,
): string {
  const lengthTokens = Math.min(SELF_TEST_TOKENS, limits.maxModelLenTokens);
  const fault = forceCopied
    ? 'asked for'
    : findInPlaceFault(runner, () => new SequenceCache(config, lengthTokens), limits.ladderRows);
  if (fault === undefined) return 'KV cache: in place';
  runner.kvPath = 'copied';
  return `warning: KV cache: copied every step, slower (${fault})`;
}

function describe(options: ResolvedOptions, limits: EngineLimits, files: ModelFiles): string[] {
  const format = options.quantization === 'int4' ? 'int4 (block 32), embedding float32' : 'float32';
  const megabytes = Math.round(files.weights.totalBytes / 1e6);
  const notes = [
    `weights: ${format}, ${megabytes} MB`,
    `threads: ${options.numThreads}`,
    `graphs: ${limits.ladderRows.join(', ')} rows`,
  ];
  if (limits.maxNumSeqs < options.maxNumSeqs)
    notes.push(`rows per step: ${limits.maxNumSeqs}, the largest graph (${options.maxNumSeqs} asked for)`);
  if (options.loadFormat === 'dummy') notes.push('random weights: answers mean nothing');
  return notes;
}
