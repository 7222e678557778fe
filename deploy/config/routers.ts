import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RouterEntry } from '../../core/deployment.ts';
import { builtInRouters, routersWithHead } from '../../routers/registry.ts';
import { defaultHeadFile, withDefaultHead } from './head-files.ts';
import type { ResolvedModel } from './models.ts';
import { packageRoot } from './package-root.ts';
import type { Config } from './schema.ts';

const builtIn = (use: string): RouterEntry => ({ id: use, use, options: {} });

/** Needs one model only. */
const forOneModel: readonly RouterEntry[] = [builtIn('always-small')];

/** What a deployment of two models and more offers unless it says otherwise. */
const forSeveralModels: readonly RouterEntry[] = [
  { id: 'r-stitch', use: 'r-stitch', options: { threshold: 0.02 } },
  ...forOneModel,
  builtIn('always-large'),
  builtIn('random'),
];

/** The home that networks come with the package for; any other has a hidden vector of another meaning. */
const HOME_WITH_HEADS = join(packageRoot, 'models', 'small');

function defaultRouters(numModels: number, home: ResolvedModel): readonly RouterEntry[] {
  if (numModels === 1) return forOneModel;
  const isTrainedFor = home.path === HOME_WITH_HEADS && home.engine === 'onnx';
  const trained = [...routersWithHead].filter((use) => existsSync(defaultHeadFile(home.path, use)));
  return [
    ...forSeveralModels,
    ...(isTrainedFor ? trained.map(builtIn) : []),
    ...(numModels > 2 ? [builtIn('ensemble')] : []),
  ];
}

/** Where no list is given, the default router may be any that is built in. */
function offeredRouters(config: Config, numModels: number, home: ResolvedModel): readonly RouterEntry[] {
  if (config.routers !== undefined) return config.routers;
  const offered = defaultRouters(numModels, home);
  const wanted = config.router;
  const isListed = wanted === undefined || offered.some(({ id }) => id === wanted);
  return isListed || !builtInRouters.has(wanted) ? offered : [...offered, builtIn(wanted)];
}

/** The deployment's routers, with the key `threshold` given to the default one. */
export function resolveRouters(
  config: Config,
  numModels: number,
  home: ResolvedModel,
): { routers: RouterEntry[]; defaultRouter: string } {
  const offered = offeredRouters(config, numModels, home);
  const defaultRouter = config.router ?? offered[0]?.id ?? '';
  const routers = offered.map(({ id, use, options }) => {
    const isDefault = id === defaultRouter;
    const extra = isDefault && config.threshold !== undefined ? { threshold: config.threshold } : {};
    return withDefaultHead({ id, use, options: { ...options, ...extra } }, home.path);
  });
  return { routers, defaultRouter };
}
