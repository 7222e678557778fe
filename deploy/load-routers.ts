import type { ModelId } from '../core/request.ts';
import { loadRouterFactory } from '../routers/registry.ts';
import type { Router } from '../routers/router.ts';
import type { ResolvedConfig } from './config/deployment.ts';

/**
 * Every router of the deployment, made for one model.
 * @throws TokenrailError `config_invalid` naming the router and what is wrong
 */
export async function loadRouters(
  resolved: ResolvedConfig,
  self: ModelId,
): Promise<ReadonlyMap<string, Router>> {
  const { deployment, routersBaseDir } = resolved;
  const routers = new Map<string, Router>();
  for (const { id, use, options } of deployment.routers) {
    const factory = await loadRouterFactory(use, routersBaseDir);
    routers.set(id, factory({ self, home: deployment.home, models: deployment.models, options }));
  }
  return routers;
}
