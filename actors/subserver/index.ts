export { createSubserver, Subserver } from './subserver.ts';
export { unionNeeds } from './step-needs.ts';
export { recordNeeds, type RecordOptions } from './step-tap.ts';
export type { SubserverDeps, SubserverOptions } from './options.ts';
