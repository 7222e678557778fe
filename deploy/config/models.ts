import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { ModelId } from '../../core/request.ts';
import type { LoadedConfig } from './load.ts';
import { packageRoot } from './package-root.ts';
import type { Config, ModelConfig } from './schema.ts';
import type { PolicyConfig } from './schema/engine.ts';
import type { SimulatedConfig } from './schema/simulated.ts';
import { divideThreads } from './threads.ts';

/** One model with every setting decided. */
export interface ResolvedModel {
  id: ModelId;
  name: string;
  /** Absolute path of the checkpoint directory. */
  path: string;
  numReplicas: number;
  engine: 'onnx' | 'simulated';
  /** Present where `engine` is `simulated`. */
  simulated?: SimulatedConfig;
  loadFormat: 'auto' | 'dummy';
  quantization: 'none' | 'int4';
  /** Threads of one engine, ≥ 1. */
  numThreads: number;
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  blockSizeTokens: number;
  policy: PolicyConfig;
  maxModelLenTokens?: number;
  numKvBlocks?: number;
  kvCacheMemoryBytes?: number;
}

/** The pair that comes with the package. */
export const embeddedModels: readonly ModelConfig[] = ['small', 'large'].map((name) => ({
  name,
  path: join(packageRoot, 'models', name),
}));

/** Bytes of the weight files; 0 where there are none (yet). */
export function weightBytes(dir: string): number {
  try {
    const files = readdirSync(dir).filter((name) => name.endsWith('.safetensors'));
    return files.reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
  } catch {
    return 0;
  }
}

function resolveModel(config: Config, model: ModelConfig, index: number, baseDir: string): ResolvedModel {
  // The KV budget has two forms: a model that brings one of them replaces both.
  const budget = model.numKvBlocks === undefined && model.kvCacheMemoryBytes === undefined ? config : model;
  const maxModelLen = model.maxModelLen ?? config.maxModelLen;
  const simulated = model.simulated ?? config.simulated;
  return {
    id: index + 1,
    name: model.name,
    path: resolve(baseDir, model.path),
    numReplicas: config.replicas[model.name] ?? 1,
    engine: model.engine ?? config.engine,
    loadFormat: model.loadFormat ?? config.loadFormat,
    quantization: model.quantization ?? config.quantization,
    numThreads: model.threads ?? config.threads,
    maxNumSeqs: model.maxNumSeqs ?? config.maxNumSeqs,
    maxNumBatchedTokens: model.maxNumBatchedTokens ?? config.maxNumBatchedTokens,
    blockSizeTokens: model.blockSize ?? config.blockSize,
    policy: model.policy ?? config.policy,
    ...(simulated === undefined ? {} : { simulated }),
    ...(maxModelLen === undefined ? {} : { maxModelLenTokens: maxModelLen }),
    ...(budget.numKvBlocks === undefined ? {} : { numKvBlocks: budget.numKvBlocks }),
    ...(budget.kvCacheMemoryBytes === undefined ? {} : { kvCacheMemoryBytes: budget.kvCacheMemoryBytes }),
  };
}

/** The models of the configuration in order, the cores divided among their engines. */
export function resolveModels(
  loaded: LoadedConfig,
  numCores: number = availableParallelism(),
): ResolvedModel[] {
  const { config, modelsBaseDir } = loaded;
  const models = (config.models ?? embeddedModels).map((model, i) =>
    resolveModel(config, model, i, modelsBaseDir),
  );
  const demands = models.map(({ numThreads, numReplicas, path }) => ({
    threads: numThreads,
    numReplicas,
    weightBytes: weightBytes(path),
  }));
  const threads = divideThreads(demands, numCores);
  return models.map((model, i) => ({ ...model, numThreads: threads[i] ?? 1 }));
}
