import { createSubserver } from '../../actors/subserver/index.ts';
import type { RecordOptions, Subserver, SubserverOptions } from '../../actors/subserver/index.ts';
import type { Clock } from '../../core/clock.ts';
import { TokenrailError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { EngineInfo } from '../../engine/engine.ts';
import { createPolicy, type PlanSolver } from '../../scheduling/index.ts';
import { WorkerSolver } from '../../scheduling/planner/index.ts';
import { connectNats } from '../../transport/nats.ts';
import type { Router } from '../../routers/router.ts';
import { Subjects } from '../../transport/subjects.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import type { ResolvedModel } from '../config/models.ts';
import { createEngine } from '../create-engine.ts';
import { fileDigest } from '../file-digest.ts';
import { loadRouters } from '../load-routers.ts';
import type { RoleContext, RunningRole } from './role.ts';

export interface SubserverInfo {
  model: string;
  replica: string;
  path: string;
  engine: EngineInfo;
}

export interface SubserverRoleContext extends RoleContext {
  modelName: string;
  /** Default: a fresh id, so that messages for a former process never reach this one. */
  replica?: string | undefined;
  /** Ids from here on are padding. Absent: the checkpoint's own vocabulary decides. */
  maskIdsFrom?: number | undefined;
}

/** The configured model of that name. @throws TokenrailError `config_invalid` */
function findModel(resolved: ResolvedConfig, name: string): ResolvedModel {
  const model = resolved.models.find((candidate) => candidate.name === name);
  if (model !== undefined) return model;
  const known = resolved.models.map((candidate) => candidate.name).join(', ');
  throw new TokenrailError('config_invalid', `--model: "${name}" is not one of ${known}`, { param: 'model' });
}

/** What the configuration tells the subserver of a model. */
export function subserverOptions(
  resolved: ResolvedConfig,
  model: ResolvedModel,
  replica: string,
): SubserverOptions {
  const { advanced } = resolved.config;
  return {
    deployment: resolved.deployment,
    self: model.id,
    replica,
    configHash: resolved.configHash,
    policy: createPolicy(model.policy),
    policies: resolved.models.map(({ policy }) => policy),
    maxNumBatchedTokens: model.maxNumBatchedTokens,
    maxLiveRequests: advanced.maxLiveRequests,
    resendMs: advanced.resendMs,
    heartbeatMs: advanced.heartbeatMs,
  };
}

/** Plans are made by homes, where any model schedules itself. */
function solverFor(resolved: ResolvedConfig, model: ResolvedModel, clock: Clock): PlanSolver | undefined {
  const isWanted = resolved.models.some(({ policy }) => policy.kind === 'auto');
  return isWanted && model.id === resolved.deployment.home ? new WorkerSolver(clock) : undefined;
}

/** Where the deployment records: what, with the content of each network that a router uses. */
function recording(
  { config: { record } }: ResolvedConfig,
  routers: ReadonlyMap<string, Router>,
): { record?: RecordOptions } {
  if (record === undefined) return {};
  const files = [...routers.values()].flatMap(({ needs }) => (needs.heads ?? []).map(({ file }) => file));
  return { record: { ...record, headDigests: new Map(files.map((file) => [file, fileDigest(file)])) } };
}

function loadedInfo(subserver: Subserver): EngineInfo {
  if (subserver.engineInfo === undefined)
    throw new TokenrailError('internal', 'a started subserver has no engine');
  return subserver.engineInfo;
}

/** Composition root of a subserver process. Resolves once the model serves. */
export async function startSubserverRole(context: SubserverRoleContext): Promise<RunningRole<SubserverInfo>> {
  const { resolved, clock, logger } = context;
  const model = findModel(resolved, context.modelName);
  const routers = await loadRouters(resolved, model.id, (text) => logger.warn({ model: model.name }, text));
  const replica = context.replica ?? newId('r', Math.random, 8);
  const engine = createEngine(resolved, model, routers, context);
  const bus = await connectNats({
    servers: context.natsUrl,
    inboxPrefix: new Subjects(resolved.deployment.namespace).inbox('subserver', replica, 'request'),
    name: `tokenrail ${model.name} ${replica}`,
    ...(context.natsToken === undefined ? {} : { token: context.natsToken }),
    logger,
    clock,
    connectTimeoutMs: resolved.config.advanced.connectTimeoutMs,
  });
  const options = subserverOptions(resolved, model, replica);
  const solver = solverFor(resolved, model, clock);
  const subserver = createSubserver(options, {
    bus,
    clock,
    engine,
    logger,
    random: Math.random,
    routers,
    ...recording(resolved, routers),
    ...(solver === undefined ? {} : { solver }),
  });
  const stop = async (): Promise<void> => {
    await subserver.stop().finally(() => Promise.all([bus.close(), solver?.close()]));
  };
  await subserver.start().catch(async (thrown: unknown) => {
    await stop();
    throw thrown;
  });
  return {
    info: { model: model.name, replica, path: model.path, engine: loadedInfo(subserver) },
    drain: (timeoutMs) => subserver.drain(timeoutMs).then(stop),
    stop,
  };
}
