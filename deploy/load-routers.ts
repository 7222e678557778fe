import type { ModelId } from '../core/request.ts';
import type { SignalNeeds } from '../engine/engine.ts';
import { loadRouterFactory } from '../routers/registry.ts';
import type { Router } from '../routers/router.ts';
import type { ResolvedConfig } from './config/deployment.ts';

/** A router module in TypeScript needs a loader when the program itself runs compiled. */
async function registerTypeScript(uses: readonly string[]): Promise<void> {
  if (import.meta.url.endsWith('.ts') || !uses.some((use) => use.endsWith('.ts'))) return;
  const { register } = await import('tsx/esm/api');
  register();
}

/**
 * Every router of the deployment, made for one model.
 * @throws TokenrailError `config_invalid` naming the router and what is wrong
 */
export async function loadRouters(
  resolved: ResolvedConfig,
  self: ModelId,
): Promise<ReadonlyMap<string, Router>> {
  const { deployment, routersBaseDir } = resolved;
  await registerTypeScript(deployment.routers.map((router) => router.use));
  const routers = new Map<string, Router>();
  for (const { id, use, options } of deployment.routers) {
    const factory = await loadRouterFactory(use, routersBaseDir);
    routers.set(id, factory({ self, home: deployment.home, models: deployment.models, options }));
  }
  return routers;
}

/** The union of what the routers want to see. */
export function joinNeeds(routers: Iterable<Router>): SignalNeeds {
  const joined: SignalNeeds = {};
  for (const { needs } of routers) {
    if (needs.topK !== undefined) joined.topK = Math.max(joined.topK ?? 0, needs.topK);
    if (needs.hidden === true) joined.hidden = true;
    if (needs.embedding === true) joined.embedding = true;
    if (needs.logits === true) joined.logits = true;
  }
  return joined;
}
