import { optionError } from './options.ts';
import type { RouterContext } from './router.ts';

/** What decimal fractions of a configuration may miss 1 by. */
const TOLERANCE = 1e-6;

/**
 * Probabilities by model id − 1, from option `weights`.
 * @throws TokenrailError `config_invalid` naming the router and the model or sum that is wrong
 */
export function ensembleWeights(router: string, { models, options }: RouterContext): number[] {
  const { weights, ...unknown } = options;
  const [extra] = Object.keys(unknown);
  if (extra !== undefined) throw optionError(router, extra, 'is unknown; known: weights');
  if (weights === undefined) return models.map(() => 1 / models.length);
  const fail = (problem: string): Error => optionError(router, 'weights', problem);
  if (typeof weights !== 'object' || weights === null || Array.isArray(weights))
    throw fail('must give a probability for each model by its name');
  const given = new Map<string, unknown>(Object.entries(weights));
  const read = models.map(({ name }) => {
    const weight = given.get(name);
    given.delete(name);
    if (typeof weight === 'number' && weight >= 0 && weight <= 1) return weight;
    throw fail(`of model ${name} must be a number from 0 to 1, not ${JSON.stringify(weight) ?? 'missing'}`);
  });
  const [stranger] = given.keys();
  if (stranger !== undefined) throw fail(`names "${stranger}", which is no model of the deployment`);
  const sum = read.reduce((total, weight) => total + weight, 0);
  if (Math.abs(sum - 1) > TOLERANCE) throw fail(`must have the sum 1, not ${sum}`);
  return read;
}
