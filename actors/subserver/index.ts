export { createSubserver, Subserver } from './subserver.ts';
export type { SubserverDeps, SubserverOptions } from './options.ts';
