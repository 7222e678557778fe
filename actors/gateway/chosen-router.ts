import type { Deployment } from '../../core/deployment.ts';
import { TokenrailError } from '../../core/errors.ts';
import { modelNotFound } from './model-not-found.ts';

/** Between a served name and a router's id in the field `model`. */
export const SEPARATOR = ':';

/**
 * The router of a request: the field `router`, else what follows a served name in `model` (`tokenrail:r2r`, for
 * clients that can choose nothing but a model), else the deployment's own.
 * @throws TokenrailError `model_not_found`, or `invalid_request` for a router that is unknown or named in two ways
 */
export function chosenRouter(
  { model, router }: { model: string; router?: string | undefined },
  servedModelNames: readonly string[],
  { routers, defaultRouter }: Pick<Deployment, 'routers' | 'defaultRouter'>,
): string {
  const inModel = servedModelNames.includes(model) ? undefined : suffixOf(model, servedModelNames);
  const chosen = router ?? inModel ?? defaultRouter;
  if (inModel !== undefined && inModel !== chosen)
    throw invalid('The fields model and router name different routers.', 'router');
  if (routers.some(({ id }) => id === chosen)) return chosen;
  const offered = routers.map(({ id }) => id).join(', ');
  throw invalid(`There is no such router; offered: ${offered}.`, router === undefined ? 'model' : 'router');
}

/** What follows a served name; of several that fit (names may hold the separator) the longest. */
function suffixOf(model: string, servedModelNames: readonly string[]): string {
  const suffixes = servedModelNames
    .map((name) => name + SEPARATOR)
    .filter((start) => model.startsWith(start))
    .map((start) => model.slice(start.length));
  const [shortest] = suffixes.sort((a, b) => a.length - b.length);
  if (shortest === undefined || shortest === '') throw modelNotFound(model);
  return shortest;
}

function invalid(message: string, param: string): TokenrailError {
  return new TokenrailError('invalid_request', message, { param });
}
