export { createSubserver, Subserver } from './subserver.ts';
export { unionNeeds } from './decoding-loop.ts';
export type { SubserverDeps, SubserverOptions } from './options.ts';
