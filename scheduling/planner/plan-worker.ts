import { setPriority } from 'node:os';
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

/** Where all cores are busy, planning gets a tenth of one beside the models' threads: what is planned later is no loss like a step later. */
const NICENESS = 10;

function goLast(): void {
  if (process.platform !== 'linux') return; // only there it is that of the thread: elsewhere of the whole process
  try {
    setPriority(0, NICENESS);
  } catch {
    // Where that is forbidden planning competes with the models, as it does elsewhere.
  }
}

goLast();
parentPort?.on('message', (job: PlanJob) => parentPort?.postMessage(answer(job)));
