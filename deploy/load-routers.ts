import type { ModelId } from '../core/request.ts';
import { loadRouterFactory } from '../routers/registry.ts';
import type { Router } from '../routers/router.ts';
import type { ResolvedConfig } from './config/deployment.ts';

/**
 * Every router of the deployment, made for one model.
 * @param warn told what a router wants the operator to know while it serves
 * @throws TokenrailError `config_invalid` naming the router and what is wrong
 */
export async function loadRouters(
  resolved: ResolvedConfig,
  self: ModelId,
  warn?: (text: string) => void,
): Promise<ReadonlyMap<string, Router>> {
  const { deployment, routersBaseDir } = resolved;
  const routers = new Map<string, Router>();
  for (const { id, use, options } of deployment.routers) {
    const factory = await loadRouterFactory(use, routersBaseDir);
    const { home, models } = deployment;
    const said = warn === undefined ? {} : { warn };
    routers.set(id, factory({ self, home, models, options, baseDir: routersBaseDir, ...said }));
  }
  return routers;
}
