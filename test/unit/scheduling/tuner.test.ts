import { describe, expect, it } from 'vitest';
import type { ModelEstimates } from '../../../scheduling/estimate/model-estimator.ts';
import type { PlanOutcome, PlanProblem, PlanSolver } from '../../../scheduling/planner/index.ts';
import { hasMoved, hasShareMoved, MATERIAL } from '../../../scheduling/tuner/moved.ts';
import { SteadyCount } from '../../../scheduling/tuner/steady-count.ts';
import { systemOf } from '../../../scheduling/tuner/system-of.ts';
import { Tuner, type TunerInput } from '../../../scheduling/tuner/tuner.ts';
import { candidate } from './support/candidate.ts';
import { guest, home } from './support/reports.ts';

describe('the system that estimates describe', () => {
  it('waits until every model that is used has been seen enough', () => {
    expect(systemOf([[home(0.3)], []], 1, 4)).toBeUndefined();
    expect(systemOf([[home(0.3)], [guest({ numOutcomes: 5 })]], 1, 4)).toBeUndefined();
    expect(systemOf([[], [guest()]], 1, 4)).toBeUndefined();
    expect(systemOf([[home(0)], []], 1, 4)?.system.routing).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });

  it('waits for a model that is reached through a guest only', () => {
    const first = home(0.3, { routing: [0.7, 0.3, 0], commits: [1, 0, 0] });
    const second = guest({ routing: [0.5, 0, 0.5], commits: [1, 0, 0] });
    const third = guest({ routing: [1, 0, 0], commits: [1, 0, 0] });
    expect(systemOf([[first], [second], []], 1, 4)).toBeUndefined();
    expect(systemOf([[first], [second], [third]], 1, 4)).toBeDefined();
  });

  it('takes means over the replicas, and the curve by rows', () => {
    const measured = systemOf([[home(0.2), home(0.4)], [guest({ overlapFactor: 0.6 })]], 1, 4);
    expect(measured?.system).toMatchObject({
      replicas: [2, 1],
      stepMs: [
        [6, 6, 6, 6],
        [20, 22, 24, 26],
      ],
      overlapFactor: 0.6, // who found none may not have had the evidence
      maxNumSeqs: [16, 16],
    });
    expect(measured?.system.routing[0]?.[1]).toBeCloseTo(0.3, 9);
    expect(measured?.numOutcomes).toEqual([1000, 500]);
  });
});

describe('what counts as moved', () => {
  it('a share beyond its tolerance and its noise', () => {
    expect(hasShareMoved(0.35, 0.45, 1000, MATERIAL)).toBe(true);
    expect(hasShareMoved(0.35, 0.4, 1000, MATERIAL)).toBe(false);
    expect(hasShareMoved(0.35, 0.45, 30, MATERIAL)).toBe(false); // 30 rows say little
    expect(hasShareMoved(0.05, 0.06, 1000, MATERIAL)).toBe(false);
  });

  it('step times, contention, replicas', () => {
    const base = systemOf([[home(0.3)], [guest()]], 1, 4);
    if (!base) throw new Error('no system');
    const moved = (models: ModelEstimates[][]): boolean => {
      const now = systemOf(models, 1, 6); // another size of table is no other system
      return now === undefined || hasMoved(base.system, now);
    };
    expect(moved([[home(0.3)], [guest()]])).toBe(false);
    expect(moved([[home(0.3, { curve: [[1, 6.2]] })], [guest()]])).toBe(false);
    expect(moved([[home(0.3, { curve: [[1, 6.5]] })], [guest()]])).toBe(true);
    expect(moved([[home(0.3)], [guest({ overlapFactor: 0.9 })]])).toBe(true);
    expect(moved([[home(0.3), home(0.3)], [guest()]])).toBe(true);
  });

  it('a count flickers without becoming another one', () => {
    const alive = new SteadyCount();
    const seen = [8, 7, 8, 7].map((count, i) => {
      alive.observe(count, i * 100);
      return alive.value;
    });
    expect(seen).toEqual([8, 8, 8, 8]);
    alive.observe(7, 500);
    expect(alive.value).toBe(7); // lasted
    alive.observe(3, 501);
    expect(alive.value).toBe(3); // far off
  });
});

/** Answers when told to. */
class HeldSolver implements PlanSolver {
  readonly problems: PlanProblem[] = [];
  private pending: ((outcome: PlanOutcome) => void) | undefined;

  solve(problem: PlanProblem, onDone: (outcome: PlanOutcome) => void): void {
    this.problems.push(problem);
    this.pending = onDone;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  answer(seconds = 0.1): void {
    const problem = this.problems[this.problems.length - 1];
    const p = problem?.system.routing[0]?.[1] ?? 0;
    const entries = [1, problem?.aliveMax ?? 1].map((alive) => ({
      alive,
      candidates: [candidate(`for ${p.toFixed(2)}`, 100 * alive)],
    }));
    this.pending?.({ ok: true, plan: { entries }, seconds });
  }

  fail(): void {
    this.pending?.({ ok: false, error: new Error('no') });
  }
}

describe('the tuner', () => {
  const make = (): {
    solver: HeldSolver;
    tuner: Tuner;
    errors: Error[];
    tick: (p: number, more?: Partial<TunerInput>) => boolean;
  } => {
    const solver = new HeldSolver();
    const errors: Error[] = [];
    const tuner = new Tuner({ home: 1, solver, admissionP99Ms: 9, onError: (error) => errors.push(error) });
    let nowMs = 0;
    const tick = (p: number, more: Partial<TunerInput> = {}): boolean => {
      nowMs += 100;
      return tuner.tick({ nowMs, alive: 8, models: [[home(p)], [guest()]], tokens: nowMs, ...more });
    };
    return { solver, tuner, errors, tick };
  };
  const names = (tuner: Tuner): string[] => tuner.steps().map(({ name }) => name);

  it('asks once, with room for more requests, and follows the answer', () => {
    const { solver, tuner, tick } = make();
    expect([tick(0.3), tick(0.3)]).toEqual([false, false]);
    expect(solver.problems).toMatchObject([{ aliveMax: 10, admissionP99Ms: 9 }]);
    expect(tuner.steps()).toEqual([]);
    solver.answer();
    expect(tick(0.3)).toBe(true);
    expect(names(tuner)).toEqual(['for 0.30', 'for 0.30']);
    expect(tick(0.31)).toBe(false);
    expect(solver.problems).toHaveLength(1);
  });

  it('has room for eight however few there are: a new leader begins with those it has heard of', () => {
    const { solver, tick } = make();
    tick(0.3, { alive: 2 });
    expect(solver.problems).toMatchObject([{ aliveMax: 8 }]);
  });

  it("wants the estimates now and then while they are the plan's, and at every tick before and while they are not", () => {
    const { solver, tuner, tick } = make();
    const isDueAfter = (ms: number, alive = 8): boolean => tuner.isLookDue(100 * numTicks + ms, alive);
    let numTicks = 1;
    expect(isDueAfter(0)).toBe(true);
    tick(0.3);
    expect(isDueAfter(1)).toBe(true);
    solver.answer();
    expect(isDueAfter(1)).toBe(true);
    tick(0.3); // the plan is taken
    tick(0.3);
    numTicks = 3;
    expect([isDueAfter(20), isDueAfter(59), isDueAfter(60)]).toEqual([false, false, true]);
    expect(isDueAfter(20, 11)).toBe(true); // more requests than the table has room for
    tick(0.3, { models: undefined });
    numTicks = 4;
    expect(isDueAfter(0)).toBe(true); // the last look was at the tick before
    tick(0.6);
    numTicks = 5;
    expect(isDueAfter(1)).toBe(true);
    tick(0.3);
    numTicks = 6;
    expect(isDueAfter(1)).toBe(false);
  });

  it('asks again when the estimates move or more requests come, but not too often', () => {
    const { solver, tuner, tick } = make();
    tick(0.3);
    solver.answer(2); // pause: at first twice as long, 4 s
    tick(0.3);
    for (let i = 0; i < 38; i += 1) tick(0.5);
    expect(solver.problems).toHaveLength(1);
    for (let i = 0; i < 4; i += 1) tick(0.5);
    expect(solver.problems).toHaveLength(2);
    expect(names(tuner)).toEqual(['for 0.30', 'for 0.30']); // until there is a better one
    solver.answer(0);
    tick(0.5);
    expect(names(tuner)).toEqual(['for 0.50', 'for 0.50']);
    for (let i = 0; i < 12; i += 1) tick(0.5, { alive: 20 });
    expect(solver.problems[2]).toMatchObject({ aliveMax: 25 });
  });

  it('plans seldom where only step times wander, and at once where requests go other ways', () => {
    const { solver, tick } = make();
    for (let i = 0; i < 3; i += 1) tick(0.3);
    solver.answer(1);
    let numTicks = 0;
    const wander = (seconds: number, p = 0.3): number => {
      const { length } = solver.problems;
      for (let i = 0; i < seconds * 10; i += 1) {
        const before = solver.problems.length;
        const homeMs = 6 * 1.1 ** Math.floor((numTicks += 1) / 100); // never the same again: no plan is remembered for it
        tick(p, { models: [[home(p, { curve: [[1, homeMs]] })], [guest()]] });
        if (solver.problems.length > before) solver.answer(1);
      }
      return solver.problems.length - length;
    };
    wander(600);
    expect(wander(600)).toBeLessThan(4);
    const { length } = solver.problems;
    for (let i = 0; i < 30; i += 1) tick(0.6);
    expect(solver.problems.length).toBe(length + 1);
  });

  it('a passage in which requests go other ways is no other load, one that lasts or is far off is', () => {
    const { solver, tick, tuner } = make();
    for (let i = 0; i < 3; i += 1) tick(0.3);
    solver.answer();
    tick(0.3);
    const routed = (p: number): void =>
      void tick(p, { models: [[home(p, { numOutcomes: 500 })], [guest()]] });
    for (let k = 0; k < 40; k += 1) for (const p of [0.42, 0.42, 0.3]) routed(p);
    expect(solver.problems.length).toBe(1);
    for (let k = 0; k < 4; k += 1) routed(0.42);
    expect(solver.problems.length).toBe(2);
    solver.answer();
    routed(0.42);
    routed(0.42);
    expect(names(tuner)[0]).toBe('for 0.42');
    for (let k = 0; k < 10; k += 1) routed(0.3); // a solve may follow another one after a second
    for (let k = 0; k < 3; k += 1) routed(0.9);
    expect(solver.problems.length).toBe(3);
    solver.answer();
    // The passage is over, and so is what was planned for it; that steps take longer does not change that.
    tick(0.3, { models: [[home(0.3, { curve: [[1, 7]] })], [guest()]] });
    expect(names(tuner)[0]).toBe('for 0.30');
  });

  it('a load that shifts back and forth is planned once each', () => {
    const { solver, tuner, tick } = make();
    for (let round = 0; round < 6; round += 1) {
      const p = round % 2 === 0 ? 0.05 : 0.5;
      for (let i = 0; i < 15; i += 1) {
        tick(p);
        if (solver.problems.length === round + 1 && round < 2 && i === 11) solver.answer(0);
      }
      expect(names(tuner)[0]).toBe(`for ${p.toFixed(2)}`);
    }
    expect(solver.problems).toHaveLength(2);
  });

  it('says nothing of what ran while nobody followed the plan', () => {
    const { solver, tuner, tick } = make();
    tick(0.3);
    solver.answer();
    for (let i = 0; i < 100; i += 1) tick(0.3, { isFollowed: i % 5 !== 0 });
    expect(tuner.trials?.measured).toBeUndefined();
    for (let i = 0; i < 100; i += 1) tick(0.3);
    expect(Math.abs((tuner.trials?.measured ?? 0) - 1000)).toBeLessThan(5);
  });

  it('a solve that fails is told, and tried again later', () => {
    const { solver, tuner, errors, tick } = make();
    tick(0.3);
    solver.fail();
    expect(errors).toHaveLength(1);
    tick(0.3);
    expect(solver.problems).toHaveLength(1);
    for (let i = 0; i < 12; i += 1) tick(0.3);
    expect(solver.problems).toHaveLength(2);
    expect(tuner.steps()).toEqual([]);
  });

  it('fails ever more rarely, and not more often than solves that take as long', () => {
    const { solver, tick } = make();
    for (let i = 0; i < 600; i += 1) {
      const numBefore = solver.problems.length;
      tick(0.3);
      if (solver.problems.length > numBefore) solver.fail();
    }
    expect(solver.problems.length).toBeLessThan(8); // of 60 in a minute
    const slow = make();
    slow.tick(0.3);
    for (let i = 0; i < 20; i += 1) slow.tick(0.3); // 2 s
    slow.solver.fail();
    for (let i = 0; i < 390; i += 1) slow.tick(0.3);
    expect(slow.solver.problems).toHaveLength(1);
    for (let i = 0; i < 12; i += 1) slow.tick(0.3);
    expect(slow.solver.problems).toHaveLength(2);
  });
});
