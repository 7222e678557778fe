export { AutoPolicy } from './auto.ts';
export { checkPolicySpec, createPolicy, type PolicySpec } from './create-policy.ts';
export type { PlanSolver } from './planner/plan.ts';
export type { Decision, PeerView, QueueView, StartPolicy } from './policy.ts';
