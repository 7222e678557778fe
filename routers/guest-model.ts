import { TokenrailError } from '../core/errors.ts';
import type { ModelId } from '../core/request.ts';
import { optionError } from './options.ts';
import type { RouterContext } from './router.ts';

/**
 * The guest of an algorithm for two models: the one that option `guest` names; by default the last model of
 * the configuration that is not the home (models are listed from small to large).
 * @throws TokenrailError `config_invalid` where there is none, or the home was named
 */
export function guestModel(router: string, context: RouterContext, named: string | undefined): ModelId {
  const others = context.models.filter((model) => model.id !== context.home);
  const guest = named === undefined ? others.at(-1) : others.find((model) => model.name === named);
  if (guest !== undefined) return guest.id;
  if (named !== undefined) throw optionError(router, 'guest', `names the home, "${named}"`);
  throw new TokenrailError('config_invalid', `router ${router}: needs a second model beside the home`);
}
