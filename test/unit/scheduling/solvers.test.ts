import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../core/system-clock.ts';
import {
  InlineSolver,
  makePlan,
  WorkerSolver,
  type PlanOutcome,
  type PlanProblem,
} from '../../../scheduling/planner/index.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const problem: PlanProblem = {
  system: {
    routing: [
      [0.65, 0.35],
      [1, 0],
    ],
    commits: [
      [1, 0],
      [1, 0],
    ],
    stepMs: [[6], [27.9]],
    overlapFactor: 1,
    home: 1,
  },
  aliveMax: 4,
};
const wrong: PlanProblem = { ...problem, aliveMax: 0 };

describe('the inline solver', () => {
  it('answers once, after the instant, and refuses once closed', async () => {
    const clock = new ManualClock();
    const solver = new InlineSolver(clock);
    const outcomes: PlanOutcome[] = [];
    solver.solve(problem, (outcome) => outcomes.push(outcome));
    solver.solve(wrong, (outcome) => outcomes.push(outcome));
    expect(outcomes).toEqual([]);
    clock.advance(0);
    expect(outcomes).toEqual([
      { ok: true, plan: makePlan(problem), seconds: 0 },
      { ok: false, error: expect.objectContaining({ code: 'config_invalid' }) as Error },
    ]);
    await solver.close();
    solver.solve(problem, (outcome) => outcomes.push(outcome));
    clock.advance(0);
    expect(outcomes[2]).toMatchObject({ ok: false, error: { code: 'illegal_state' } });
  });
});

/** How nice the threads of this process are. */
function nicenessOfThreads(): number[] {
  const { pid } = process;
  return readdirSync(`/proc/${pid}/task`).map((tid) => {
    const stat = readFileSync(`/proc/${pid}/task/${tid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

describe('the solver in a thread', () => {
  const solvers: WorkerSolver[] = [];
  const start = (file?: URL): WorkerSolver => {
    const solver = new WorkerSolver(new SystemClock(), file);
    solvers.push(solver);
    return solver;
  };
  const solve = (solver: WorkerSolver, task: PlanProblem): Promise<PlanOutcome> =>
    new Promise((resolve) => solver.solve(task, resolve));
  afterEach(async () => {
    await Promise.all(solvers.splice(0).map((solver) => solver.close()));
  });

  it('gives the plan that the caller would have computed, and errors with their codes', async () => {
    const solver = start();
    const [good, bad] = await Promise.all([solve(solver, problem), solve(solver, wrong)]);
    expect(good).toMatchObject({ ok: true, plan: makePlan(problem) });
    expect(bad).toMatchObject({ ok: false, error: { code: 'config_invalid' } });
  });

  it.runIf(process.platform === 'linux')('lets the models go first: its thread alone is nice', async () => {
    const before = nicenessOfThreads();
    expect(await solve(start(), problem)).toMatchObject({ ok: true });
    expect(nicenessOfThreads().filter((nice) => nice === 10)).toHaveLength(
      1 + before.filter((nice) => nice === 10).length,
    );
    expect(getPriority()).toBe(Math.min(...before));
  });

  it('reports a thread that dies, each time with a new thread', async () => {
    const solver = start(new URL('data:text/javascript,process.exit(3)'));
    for (let round = 0; round < 2; round += 1) {
      const outcome = await solve(solver, problem);
      expect(outcome).toMatchObject({ ok: false, error: { code: 'internal' } });
      expect(String((outcome as { error: Error }).error)).toContain('exit code 3');
    }
  });

  it('tells who waits when it is closed, twice is once, and then refuses', async () => {
    const solver = start(new URL('data:text/javascript,setInterval(() => {}, 1000)'));
    const pending = solve(solver, problem);
    await Promise.all([solver.close(), solver.close()]);
    expect(await pending).toMatchObject({ ok: false, error: { code: 'shutting_down' } });
    expect(await solve(solver, problem)).toMatchObject({ ok: false, error: { code: 'illegal_state' } });
  });
});
