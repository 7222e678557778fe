import type { RouterEntry } from '../../core/deployment.ts';
import type { Config } from './schema.ts';

/** Needs one model only. */
const forOneModel: readonly RouterEntry[] = [{ id: 'always-small', use: 'always-small', options: {} }];

/** What a deployment of two models and more offers unless it says otherwise. */
const forSeveralModels: readonly RouterEntry[] = [
  { id: 'r-stitch', use: 'r-stitch', options: { threshold: 0.02 } },
  ...forOneModel,
  { id: 'always-large', use: 'always-large', options: {} },
  { id: 'random', use: 'random', options: {} },
];

/** The deployment's routers, with the key `threshold` given to the default one. */
export function resolveRouters(
  config: Config,
  numModels: number,
): { routers: RouterEntry[]; defaultRouter: string } {
  const configured = config.routers ?? (numModels === 1 ? forOneModel : forSeveralModels);
  const defaultRouter = config.router ?? configured[0]?.id ?? '';
  const routers = configured.map(({ id, use, options }) => {
    const isDefault = id === defaultRouter;
    const extra = isDefault && config.threshold !== undefined ? { threshold: config.threshold } : {};
    return { id, use, options: { ...options, ...extra } };
  });
  return { routers, defaultRouter };
}
