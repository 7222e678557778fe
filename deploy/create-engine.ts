import { recordNeeds, unionNeeds } from '../actors/subserver/index.ts';
import type { Clock } from '../core/clock.ts';
import { TokenrailError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { Engine, SignalNeeds } from '../engine/engine.ts';
import { createOnnxEngine } from '../engine/onnx/index.ts';
import {
  AlarmClock,
  createSimulatedEngine,
  SimulatedDevice,
  type RoutingLaw,
} from '../engine/simulated/index.ts';
import type { Router } from '../routers/router.ts';
import { readCheckpointFacts } from './checkpoint-facts.ts';
import type { ResolvedConfig } from './config/deployment.ts';
import type { ResolvedModel } from './config/models.ts';
import type { SimulatedConfig } from './config/schema/simulated.ts';

export interface EngineContext {
  clock: Clock;
  logger: Logger;
  /** Ids from here on are padding. Absent: the checkpoint's own vocabulary decides. */
  maskIdsFrom?: number | undefined;
}

function lawOf({ law, leave = 0, rho = 0 }: SimulatedConfig): RoutingLaw {
  if (law === 'bernoulli') return { kind: law };
  return law === 'correlated' ? { kind: law, rho } : { kind: law, leave };
}

function simulatedEngine(
  resolved: ResolvedConfig,
  model: ResolvedModel,
  needs: SignalNeeds,
  { clock, maskIdsFrom }: EngineContext,
): Engine {
  const { simulated, maxModelLenTokens, numKvBlocks } = model;
  if (simulated === undefined)
    throw new TokenrailError('config_invalid', `model "${model.name}": simulated: step-ms is missing`);
  const { stepMs: baseMs, perRowMs, perTokenMs, prefillPerTokenMs, jitter, seed } = simulated;
  const facts = readCheckpointFacts(model.path);
  const alarm = new AlarmClock(clock);
  return createSimulatedEngine(
    {
      modelId: model.id,
      stepTime: { baseMs, perRowMs, perTokenMs, prefillPerTokenMs, jitter },
      law: lawOf(simulated),
      seed,
      vocabSize: Math.min(facts.vocabSize, maskIdsFrom ?? Infinity),
      eosIds: resolved.models.flatMap(({ path }) => readCheckpointFacts(path).eosIds),
      maxModelLenTokens: maxModelLenTokens ?? facts.maxPositions,
      maxNumSeqs: model.maxNumSeqs,
      blockSizeTokens: model.blockSizeTokens,
      ...(numKvBlocks === undefined ? {} : { numKvBlocks }),
      needs,
    },
    { clock, device: new SimulatedDevice(alarm), onClose: () => alarm.close() },
  );
}

/**
 * The engine that a model's configuration asks for, not yet started.
 * @throws TokenrailError `config_invalid`, `checkpoint_invalid`
 */
export function createEngine(
  resolved: ResolvedConfig,
  model: ResolvedModel,
  routers: ReadonlyMap<string, Router>,
  context: EngineContext,
): Engine {
  const declared = [...routers.values()].map((router) => router.needs);
  // A simulated engine has nothing of what recording asks for besides.
  if (model.engine === 'simulated') return simulatedEngine(resolved, model, unionNeeds(declared), context);
  const { record } = resolved.config;
  const needs = unionNeeds(record === undefined ? declared : [...declared, recordNeeds(record)]);
  const { name: _name, id, path, numReplicas: _replicas, policy: _policy, engine: _kind, ...rest } = model;
  const { simulated: _simulated, ...settings } = rest;
  const mask = context.maskIdsFrom === undefined ? {} : { maskIdsFrom: context.maskIdsFrom };
  return createOnnxEngine({ ...settings, modelDir: path, modelId: id, needs, ...mask }, context);
}
