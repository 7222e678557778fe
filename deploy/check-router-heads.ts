import { TokenrailError, toTokenrailError } from '../core/errors.ts';
import type { Router } from '../routers/router.ts';
import type { ResolvedModel } from './config/models.ts';

/**
 * A network that does not belong to its model would stop the subserver again and again: better before it starts.
 * @param routers by id, made for this model
 * @throws TokenrailError `config_invalid` naming the router, the file and the first thing that does not fit
 */
export async function checkRouterHeads(
  model: ResolvedModel,
  routers: ReadonlyMap<string, Router>,
  maskIdsFrom: number,
): Promise<void> {
  const asking = [...routers].flatMap(([id, { needs }]) => (needs.heads ? [{ id, heads: needs.heads }] : []));
  if (model.engine !== 'onnx' || asking.length === 0) return;
  // The engine's code is loaded only where something is to be checked.
  const { checkHeads } = await import('../engine/onnx/index.ts');
  for (const { id, heads } of asking) {
    try {
      checkHeads(heads, model.path, maskIdsFrom);
    } catch (thrown) {
      const { message } = toTokenrailError(thrown);
      throw new TokenrailError(
        'config_invalid',
        `routers: router "${id}" at model "${model.name}": ${message}`,
        {
          param: 'routers',
          cause: thrown,
        },
      );
    }
  }
}
