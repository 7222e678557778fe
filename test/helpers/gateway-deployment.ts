import type { Deployment } from '../../core/deployment.ts';

/** A deployment of two models, as most tests of the gateway use it. */
export const deployment: Deployment = {
  namespace: 'test',
  models: [
    { id: 1, name: 'small' },
    { id: 2, name: 'large' },
  ],
  home: 1,
  routers: [
    { id: 'r-stitch', use: 'r-stitch', options: {} },
    { id: 'always-small', use: 'always-small', options: {} },
  ],
  defaultRouter: 'r-stitch',
};
