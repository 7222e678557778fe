import { parentPort } from 'node:worker_threads';
import { toTokenrailError, type ErrorCode } from '../../core/errors.ts';
import { makePlan } from './make-plan.ts';
import type { Plan, PlanProblem } from './plan.ts';

export interface PlanJob {
  id: number;
  problem: PlanProblem;
}
export type PlanAnswer = { id: number; plan: Plan } | { id: number; code: ErrorCode; error: string };

/** The thread behind `WorkerSolver`. */
function answer({ id, problem }: PlanJob): PlanAnswer {
  try {
    return { id, plan: makePlan(problem) };
  } catch (thrown) {
    const { code, message } = toTokenrailError(thrown);
    return { id, code, error: message };
  }
}

parentPort?.on('message', (job: PlanJob) => parentPort?.postMessage(answer(job)));
