import { Worker } from 'node:worker_threads';
import type { Clock } from '../../core/clock.ts';
import { TokenrailError } from '../../core/errors.ts';
import type { PlanOutcome, PlanProblem, PlanSolver } from './plan.ts';
import type { PlanAnswer, PlanJob } from './plan-worker.ts';

interface Waiting {
  problem: PlanProblem;
  sinceMs: number;
  onDone: (outcome: PlanOutcome) => void;
}

/**
 * Solves in a thread of its own, one problem after the other. The thread starts with the first problem, and again with
 * the next one after it has died; it does not keep the process alive once there is nothing to do.
 */
export class WorkerSolver implements PlanSolver {
  private readonly clock: Clock;
  private readonly file: URL;
  private readonly waiting = new Map<number, Waiting>();
  private worker: Worker | undefined;
  private lastId = 0;
  private isClosed = false;

  /** @param file what the thread runs; a test may give another */
  constructor(clock: Clock, file: URL = workerFile()) {
    this.clock = clock;
    this.file = file;
  }

  solve(problem: PlanProblem, onDone: (outcome: PlanOutcome) => void): void {
    if (this.isClosed) {
      const error = new TokenrailError('illegal_state', 'the solver is closed');
      this.clock.afterInstant(() => onDone({ ok: false, error }));
      return;
    }
    const id = (this.lastId += 1);
    this.waiting.set(id, { problem, sinceMs: this.clock.nowMs(), onDone });
    this.worker ??= this.start();
    const job: PlanJob = { id, problem };
    this.worker.postMessage(job);
    this.worker.ref();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { worker } = this;
    this.worker = undefined;
    this.clock.afterInstant(() => this.failAll(new TokenrailError('shutting_down', 'the server shuts down')));
    await worker?.terminate(); // pure computation: nothing that an end in its midst could harm
  }

  private start(): Worker {
    const worker = new Worker(this.file);
    worker.unref();
    worker.on('message', (answer: PlanAnswer) => this.onAnswer(answer, worker));
    worker.on('error', (cause) => this.onGone(worker, cause));
    worker.on('exit', (code) => this.onGone(worker, new Error(`exit code ${code}`)));
    return worker;
  }

  private onAnswer(answer: PlanAnswer, worker: Worker): void {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (this.waiting.size === 0) worker.unref();
    if (!waiting) return;
    const seconds = (this.clock.nowMs() - waiting.sinceMs) / 1000;
    if ('plan' in answer) waiting.onDone({ ok: true, plan: answer.plan, seconds });
    else waiting.onDone({ ok: false, error: new TokenrailError(answer.code, answer.error) });
  }

  private onGone(worker: Worker, cause: Error): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    this.failAll(new TokenrailError('internal', `the planning thread ended: ${cause.message}`, { cause }));
  }

  private failAll(error: TokenrailError): void {
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const { onDone } of all) onDone({ ok: false, error });
  }
}

/** From the sources a bootstrap that loads tsx; from the build the compiled file itself. */
function workerFile(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? './plan-worker-bootstrap.mjs' : './plan-worker.js', import.meta.url);
}
