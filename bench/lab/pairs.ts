import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Deployment, RouterEntry } from '../../core/deployment.ts';
import { packageRoot } from '../../deploy/config/package-root.ts';

export type PairName = 'embedded' | 'dummy';

/** Two models and the router between them. */
export interface Pair {
  name: PairName;
  /** One line for people. */
  label: string;
  models: readonly [{ name: string; dir: string }, { name: string; dir: string }];
  loadFormat: 'auto' | 'dummy';
  quantization: 'none' | 'int4';
  router: RouterEntry;
  /** Threshold of the router's signal, where it has one: decisions near it may fall either way. */
  threshold?: number;
  /** Weights are random: speeds mean something, tokens do not. */
  hasRandomWeights: boolean;
}

/** Beside the sources, and copied beside the compiled program. */
export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

export interface PairOptions {
  /** R-Stitch's threshold for the embedded pair. */
  threshold: number;
  /** Probability of a handoff for the dummy pair. */
  p: number;
  /** Weights of the dummy pair. */
  quantization: 'none' | 'int4';
}

/** The models of the package with R-Stitch, or random weights in the shape of a real pair with a random router. */
export function pairOf(name: PairName, { threshold, p, quantization }: PairOptions): Pair {
  if (name === 'embedded') {
    const dir = (model: string): string => join(packageRoot, 'models', model);
    return {
      name,
      label: `embedded pair (0.47 M and 2.5 M parameters), r-stitch, threshold ${threshold}`,
      models: [
        { name: 'small', dir: dir('small') },
        { name: 'large', dir: dir('large') },
      ],
      loadFormat: 'auto',
      quantization: 'none',
      router: { id: 'r-stitch', use: 'r-stitch', options: { threshold } },
      threshold,
      hasRandomWeights: false,
    };
  }
  const weights = quantization === 'int4' ? 'int4' : 'float32';
  return {
    name,
    label: `RANDOM WEIGHTS (${weights}) in SmolLM2-135M's shape beside 10 layers of width 384; router random, p = ${p}`,
    models: [
      { name: 'small', dir: fixture('small-10-layers') },
      { name: 'large', dir: fixture('smollm2-135m') },
    ],
    loadFormat: 'dummy',
    quantization,
    router: { id: 'random', use: 'random', options: { p } },
    hasRandomWeights: true,
  };
}

export function deploymentOf(pair: Pair, namespace: string): Deployment {
  return {
    namespace,
    models: pair.models.map(({ name }, index) => ({ id: index + 1, name })),
    home: 1,
    routers: [pair.router],
    defaultRouter: pair.router.id,
  };
}
