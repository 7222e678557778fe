export { createPolicy, type PolicySpec } from './create-policy.ts';
export { StepTimeEstimate } from './step-time.ts';
export type { Decision, PeerView, QueueView, StartPolicy } from './policy.ts';
