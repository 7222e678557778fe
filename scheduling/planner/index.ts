export { InlineSolver } from './inline-solver.ts';
export { makePlan, planEntry } from './make-plan.ts';
export {
  entryFor,
  type Candidate,
  type Plan,
  type PlanEntry,
  type PlanOutcome,
  type PlanProblem,
  type PlanSolver,
  type SystemSpec,
} from './plan.ts';
export { WorkerSolver } from './worker-solver.ts';
