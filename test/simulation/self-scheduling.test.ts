import { describe, expect, it } from 'vitest';
import type { PolicySpec } from '../../scheduling/index.ts';
import { InlineSolver, type PlanSolver, type SystemSpec } from '../../scheduling/planner/index.ts';
import { encodeFrame } from '../../transport/codec.ts';
import { planFor, SelfScheduled, shareOf, startSelfScheduled } from '../helpers/self-scheduled.ts';

describe('a deployment that schedules itself', () => {
  it('measures, plans, and every replica follows; a shift of the routing is planned anew', async () => {
    const p = { now: 0.1 };
    const run = await startSelfScheduled({ p, numRequests: 8, maxTokens: 900 });
    await run.sim.clock.runFor(3000);
    expect(run.problems.length).toBeGreaterThan(0);
    expect(shareOf(run.problems[0]?.system as SystemSpec)).toBeGreaterThan(0.03);
    expect(shareOf(run.problems[0]?.system as SystemSpec)).toBeLessThan(0.25);
    expect(run.problems[0]?.system.stepMs.map(([ms]) => ms)).toEqual([6, 16]);
    const followed = /^(planned|trial)$/;
    expect(run.reports.get('1.r0')).toMatchObject({ policy: 'threshold(1)', threshold: 1 });
    expect(run.reports.get('1.r0')?.reason).toMatch(followed);
    expect(run.reports.get('2.r0')?.alive).toBe(8);
    expect(run.reports.get('2.r0')?.reason).toMatch(followed);
    const numBefore = run.problems.length;
    p.now = 0.6;
    await run.sim.clock.runFor(3000);
    expect(run.problems.length).toBeGreaterThan(numBefore);
    expect(shareOf(run.problems[run.problems.length - 1]?.system as SystemSpec)).toBeGreaterThan(0.45);
    expect(run.reports.get('1.r0')?.reason).toMatch(followed);
    expect(run.reports.get('1.r0')?.estimates?.overlapFactor).toBe(1);
    await run.finish();
  });

  it.each<[string, PolicySpec[], number | undefined]>([
    [
      'a guest',
      [
        { kind: 'auto', admissionP99Ms: 40 },
        { kind: 'threshold', threshold: 3 },
      ],
      40,
    ],
    ['the home', [{ kind: 'eager' }, { kind: 'auto', maxWaitMs: 90, admissionP99Ms: 30 }], 30],
    [
      'neither',
      [
        { kind: 'auto', admissionP99Ms: 40 },
        { kind: 'auto', admissionP99Ms: 30 },
      ],
      30,
    ],
    ['neither, without a bound', [{ kind: 'auto' }, { kind: 'auto', maxWaitMs: 90 }], undefined],
  ])('plans beside the policies that models keep: %s', async (_name, policies, bound) => {
    const run = await startSelfScheduled({ p: { now: 0.4 }, policies, numRequests: 6, maxTokens: 200 });
    await run.finish();
    run.verify();
    expect(run.problems[0]?.own).toEqual(policies);
    expect(run.problems[0]?.admissionP99Ms).toBe(bound);
    policies.forEach(({ kind }, i) => {
      const reason = run.reports.get(`${i + 1}.r0`)?.reason;
      if (kind === 'auto') expect(reason).toMatch(/^(planned|trial)$/);
      else expect(reason).toBe('configured');
    });
  });

  it('takes the time of choosing and committing rows for a part of a step: no other one begins meanwhile', async () => {
    const run = await startSelfScheduled({ p: { now: 0.4 }, numRequests: 6, maxTokens: 60 });
    const { clock } = run.sim;
    const nowMs = clock.nowMs.bind(clock);
    let spentMs = 0;
    clock.nowMs = () => nowMs() + spentMs;
    for (const routers of run.sim.routers.values())
      for (const router of routers.values()) {
        const route = router.route.bind(router);
        router.route = (rows) => {
          spentMs += 2;
          return route(rows);
        };
      }
    await run.finish();
    const curve = run.reports.get('1.r0')?.estimates?.curve ?? [];
    expect(curve[0]?.[1]).toBeGreaterThanOrEqual(8); // 6 of the engine, 2 of this thread
    run.verify();
  });

  it('with another leader when the leader dies', async () => {
    const solved: number[] = [];
    let numHomes = 0;
    const run = await startSelfScheduled({
      p: { now: 0.4 },
      replicas: [2, 1],
      numRequests: 12,
      maxTokens: 600,
      solver: (clock) => {
        const home = numHomes;
        numHomes += 1;
        return new InlineSolver(clock, (problem) => {
          solved.push(home);
          return planFor(problem);
        });
      },
    });
    await run.sim.clock.runFor(2000);
    expect(new Set(solved)).toEqual(new Set([0]));
    expect(run.reports.get('2.r0')?.reason).toBe('planned');
    expect(run.reports.get('1.r1')?.reason).toBe('planned');
    await run.sim.replicas.find(({ model, name }) => model === 1 && name === 'r0')?.bus.close();
    await run.sim.clock.runFor(4000);
    expect(solved).toContain(1);
    expect(run.reports.get('2.r0')?.reason).toBe('planned');
  });

  for (const [name, isFaulty, network] of [
    ['lost', (subject: string) => subject.includes('.beacon.'), { lossProbability: 0.5 }],
    ['doubled and late', () => true, { duplicateProbability: 0.4, reorderProbability: 0.3, reorderMs: 30 }],
    ['all lost', (subject: string) => subject.includes('.beacon.'), { lossProbability: 1 }],
    ['lost from one model', (subject: string) => subject.includes('.beacon.m2'), { lossProbability: 1 }],
  ] as const) {
    it(`answers as ever where plans and beacons are ${name}`, async () => {
      const run = await startSelfScheduled({
        p: { now: 0.4 },
        numRequests: 6,
        maxTokens: 80,
        network: { hopMs: 0.2, jitterMs: 0.3, seed: 3, isFaulty, ...network },
      });
      await run.finish();
      run.verify();
    });
  }

  it('with one model, with three, with replicas', async () => {
    for (const replicas of [[1], [1, 1, 1], [2, 2]]) {
      const run = await startSelfScheduled({ p: { now: 0.3 }, replicas, numRequests: 8, maxTokens: 150 });
      await run.finish();
      run.verify();
      expect(run.problems[0]?.system.replicas).toEqual(replicas);
    }
  });

  it('plans that cannot be used are dropped: unknown policies, another number of models, not from the home', async () => {
    const run = await startSelfScheduled({
      p: { now: 0.4 },
      numRequests: 4,
      maxTokens: 60,
      solver: () => mute,
    });
    const bus = run.sim.network.connect('stranger');
    const plan = (change: object, kind = 'threshold'): Uint8Array => {
      const policies = [1, 2].map(() => ({ kind, threshold: 2 }));
      const steps = [{ alive: 4, name: 'x', tokensPerSecond: 1, policies }];
      const routing = [
        [0.6, 0.4],
        [1, 0],
      ];
      return encodeFrame([{ kind: 'plan', model: 1, replica: 'a', number: 1, routing, steps, ...change }]);
    };
    const say = async (payload: Uint8Array): Promise<string | undefined> => {
      bus.publish(run.sim.subjects.beacon('m1'), payload);
      await run.sim.clock.runFor(60);
      return run.reports.get('2.r0')?.reason;
    };
    expect(await say(plan({}, 'of-a-later-version'))).toBe('no plan');
    expect(await say(plan({}, 'auto'))).toBe('no plan');
    expect(await say(plan({ routing: [[1]] }))).toBe('no plan');
    expect(await say(plan({ model: 2 }))).toBe('no plan');
    expect(await say(plan({}))).toBe('planned');
    await run.finish();
    run.verify();
  });

  it('a beacon of a model that the deployment does not have takes part in nothing', async () => {
    const run = new SelfScheduled({ p: { now: 0.5 }, numRequests: 4, maxTokens: 30 });
    const stranger = run.sim.network.connect('stranger');
    await run.sim.start();
    const beacon = { kind: 'beacon', model: 9, replica: 'x', rowsRunning: 5, stepLeftMs: 1e6 } as const;
    const frame = encodeFrame([{ ...beacon, waiting: 50, aliveAtHome: 500 }]);
    stranger.publish(run.sim.subjects.beacon('m1'), frame);
    await run.sim.clock.runFor(5);
    for (const { subserver } of run.sim.replicas)
      expect(subserver.counters.get('dropped_messages')).toBeGreaterThan(0);
  });

  it('a leader that was started anew is followed, though its numbers begin again', async () => {
    const run = await startSelfScheduled({
      p: { now: 0.4 },
      numRequests: 4,
      maxTokens: 200,
      solver: () => mute,
    });
    const bus = run.sim.network.connect('leader');
    const say = async (rows: number, share: number): Promise<number | undefined> => {
      const policies = [1, 2].map(() => ({ kind: 'threshold', threshold: rows }));
      const routing = [
        [1 - share, share],
        [1, 0],
      ];
      const steps = [{ alive: 4, name: 'x', tokensPerSecond: 1, policies }];
      const plan = { kind: 'plan', model: 1, replica: 'a', number: 1, routing, steps } as const;
      bus.publish(run.sim.subjects.beacon('m1'), encodeFrame([plan]));
      await run.sim.clock.runFor(60);
      return run.reports.get('2.r0')?.threshold;
    };
    expect(await say(2, 0.4)).toBe(2);
    expect(await say(3, 0.41)).toBe(3);
    await run.finish();
  });

  it('a solver that never answers, or fails, costs nothing but the plan', async () => {
    for (const solver of [() => mute, () => failing]) {
      const run = await startSelfScheduled({ p: { now: 0.4 }, numRequests: 6, maxTokens: 100, solver });
      await run.finish();
      run.verify();
      expect(run.reports.get('1.r0')).toMatchObject({ policy: 'look-ahead', reason: 'no plan' });
    }
  });
});

const mute: PlanSolver = { solve: () => {}, close: () => Promise.resolve() };
const failing: PlanSolver = {
  solve: (_problem, onDone) => onDone({ ok: false, error: new Error('scripted') }),
  close: () => Promise.resolve(),
};
