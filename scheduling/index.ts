export { createPolicy, type PolicySpec } from './create-policy.ts';
export type { Decision, PeerView, QueueView, StartPolicy } from './policy.ts';
