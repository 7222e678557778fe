import { TokenrailError } from '../core/errors.ts';
import type { ModelId } from '../core/request.ts';
import { optionError } from './options.ts';
import type { RouterContext } from './router.ts';

/**
 * The guest of an algorithm for two models: the only model that is not the home or, in a larger
 * deployment, the one that option `guest` names.
 * @throws TokenrailError `config_invalid` where there is none, or several and none was named
 */
export function guestModel(router: string, context: RouterContext, named: string | undefined): ModelId {
  const others = context.models.filter((model) => model.id !== context.home);
  const chosen = named === undefined ? others : others.filter((model) => model.name === named);
  const [guest] = chosen;
  if (guest === undefined && named !== undefined)
    throw optionError(router, 'guest', `names the home, "${named}"`);
  if (guest === undefined) {
    throw new TokenrailError('config_invalid', `router ${router}: needs a second model beside the home`);
  }
  if (chosen.length > 1) {
    const names = others.map((model) => model.name).join(', ');
    throw optionError(router, 'guest', `is needed with several guests: one of ${names}`);
  }
  return guest.id;
}
