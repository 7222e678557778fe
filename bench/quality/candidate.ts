import type { RouterEntry } from '../../core/deployment.ts';
import type { Algorithm } from './algorithms.ts';
import type { PassRule } from './passes.ts';

/** One router of a deployment, as it is measured. */
export interface Candidate {
  /** Id of the router. */
  id: string;
  label: string;
  router: RouterEntry;
  passRule: PassRule;
  /** Name of the curve it lies on, and its threshold; none for what has no threshold. */
  algorithm?: string;
  threshold?: number;
  /** File of its network. */
  head?: string;
  note?: string;
}

/** An algorithm at a threshold. */
export function atThreshold(algorithm: Algorithm, threshold: number): Candidate {
  const { name, label, use, options, hasSpans, head } = algorithm;
  const id = `${name}-${threshold}`;
  return {
    id,
    label,
    router: { id, use, options: { ...options, threshold } },
    passRule: hasSpans ? 'spans' : 'single-tokens',
    algorithm: name,
    threshold,
    ...(head === undefined ? {} : { head }),
  };
}

/** The threshold at which an algorithm hands nothing over, or next to nothing: its signals can be read then. */
export const silentThreshold = ({ side }: Algorithm): number => (side === 'below' ? 0 : 1);

function baseline(
  id: string,
  label: string,
  use: string,
  options: object,
  passRule: PassRule,
  note?: string,
): Candidate {
  const router = { id, use, options: { ...options } };
  return { id, label, router, passRule, ...(note === undefined ? {} : { note }) };
}

export const SMALL = baseline('small', 'small alone', 'always-small', {}, 'kept');
export const MEDIUM = baseline('medium', 'medium alone', 'always-large', { guest: 'medium' }, 'kept');
export const LARGE = baseline('large', 'large alone', 'always-large', {}, 'kept');

const ENSEMBLE_NOTE =
  'greedy: a random mix of the models’ own choices, not the mixture of their distributions';
/** Weights of small, medium and large. */
const ENSEMBLES = [
  [0.9, 0.05, 0.05],
  [0.6, 0.3, 0.1],
] as const;

/** Models alone, tokens at random, and the ensemble. */
export function baselines(randomShares: readonly number[]): Candidate[] {
  const random = randomShares.map((p) =>
    baseline(`random-${p}`, 'random tokens', 'random', { p }, 'single-tokens'),
  );
  const ensembles = ENSEMBLES.map(([small, medium, large]) => {
    const weights = { small, medium, large };
    const name = [small, medium, large].join('/');
    return baseline(`ensemble-${name}`, `ensemble ${name}`, 'ensemble', { weights }, 'kept', ENSEMBLE_NOTE);
  });
  return [SMALL, MEDIUM, LARGE, ...random, ...ensembles];
}
