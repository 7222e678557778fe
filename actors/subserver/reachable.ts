import type { ModelId } from '../../core/request.ts';
import type { SubserverContext } from './context.ts';
import { isHomeRequest } from './home-request.ts';
import type { LiveRequest } from './live-request.ts';

/** Whether a handoff to this model makes sense now. The way home is always open. */
export function isReachable(context: SubserverContext, request: LiveRequest, model: ModelId): boolean {
  if (model === request.home.model) return true;
  if (isHomeRequest(request) && request.refusedBy.has(model)) return false;
  return !context.unreachable.isAvoided(model, context.clock.nowMs());
}
