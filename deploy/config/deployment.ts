import { createHash } from 'node:crypto';
import type { Deployment } from '../../core/deployment.ts';
import { TokenrailError } from '../../core/errors.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { LoadedConfig } from './load.ts';
import { withHeadDigests } from './head-files.ts';
import { resolveModels } from './models.ts';
import type { ResolvedModel } from './models.ts';
import { suggestion } from './names.ts';
import { resolveRouters } from './routers.ts';
import type { Config } from './schema.ts';

/** A configuration with every reference resolved; plain data, so that it travels between processes. */
export interface ResolvedConfig {
  config: Config;
  deployment: Deployment;
  /** Equal in all processes that may work together. */
  configHash: string;
  models: readonly ResolvedModel[];
  routersBaseDir: string;
}

const invalid = (key: string, message: string): TokenrailError =>
  new TokenrailError('config_invalid', `${key}: ${message}`, { param: key });

function requireUnique(key: string, names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw invalid(key, `"${twice}" is given twice`);
}

function requireKnown(key: string, name: string, known: readonly string[]): void {
  if (!known.includes(name))
    throw invalid(key, `"${name}" is not one of ${known.join(', ')}${suggestion(name, known)}`);
}

/** What a simulated engine imitates says nothing about a model that runs. */
function checkSimulatedIsUsed(config: Config, models: readonly ResolvedModel[]): void {
  for (const { name, engine, id } of models) {
    if (engine === 'onnx' && config.models?.[id - 1]?.simulated !== undefined)
      throw invalid('simulated', `model "${name}" has engine: onnx, and needs engine: simulated beside it`);
  }
  const isUsed = models.some(
    ({ engine, id }) => engine === 'simulated' && config.models?.[id - 1]?.simulated === undefined,
  );
  if (config.simulated !== undefined && !isUsed)
    throw invalid('simulated', 'is given for all models, but none with engine: simulated goes by it');
}

function checkModels(config: Config, models: readonly ResolvedModel[]): void {
  checkSimulatedIsUsed(config, models);
  for (const model of models) {
    if (model.engine === 'simulated' && model.simulated === undefined) {
      throw invalid('simulated', `model "${model.name}" has engine: simulated, but no step-ms`);
    }
    if (model.numKvBlocks !== undefined && model.kvCacheMemoryBytes !== undefined) {
      throw invalid('num-kv-blocks', `excludes kv-cache-memory-bytes (model "${model.name}" has both)`);
    }
  }
}

/** JSON with sorted keys: the same text for the same content. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
}

/**
 * What processes must agree on, hashed. Paths, ports and thread counts may differ from machine to machine.
 * @param deployment with the content of files that must be the same
 */
export function hashDeployment(deployment: Deployment): string {
  return createHash('sha256').update(canonical(deployment)).digest('hex').slice(0, 16);
}

/**
 * Resolves names and fills in what depends on other keys.
 * @throws TokenrailError `config_invalid` naming the key whose reference goes nowhere
 */
export function resolveConfig(loaded: LoadedConfig): ResolvedConfig {
  const { config, routersBaseDir } = loaded;
  const models = resolveModels(loaded);
  const names = models.map((model) => model.name);
  requireUnique('models', names);
  for (const name of Object.keys(config.replicas)) requireKnown('replicas', name, names);
  const homeName = config.home ?? names[0] ?? '';
  requireKnown('home', homeName, names);
  const home = models[names.indexOf(homeName)];
  if (home === undefined) throw invalid('home', `"${homeName}" is no model`);
  const { routers, defaultRouter } = resolveRouters(config, models.length, home);
  const routerIds = routers.map((router) => router.id);
  requireUnique('routers', routerIds);
  requireKnown('router', defaultRouter, routerIds);
  requireUnique('served-model-name', config.servedModelName);
  checkModels(config, models);
  const deployment: Deployment = {
    namespace: config.namespace,
    models: models.map(({ id, name }) => ({ id, name })),
    home: home.id,
    routers,
    defaultRouter,
  };
  const configHash = hashDeployment({ ...deployment, routers: withHeadDigests(routers, routersBaseDir) });
  return deepFreeze({ config, deployment, configHash, models, routersBaseDir });
}
