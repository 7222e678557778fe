import { describe, expect, it } from 'vitest';
import { uniform } from '../../core/random.ts';
import type { RouterFactory } from '../../routers/router.ts';
import {
  InlineSolver,
  type Plan,
  type PlanProblem,
  type PlanSolver,
  type SystemSpec,
} from '../../scheduling/planner/index.ts';
import { decodeFrame, encodeFrame } from '../../transport/codec.ts';
import type { Heartbeat, SchedulingReport } from '../../transport/messages.ts';
import { hashTokens } from '../helpers/chain-engine.ts';
import { sequentialAnswer, type OracleModel } from '../helpers/sequential-oracle.ts';
import { greedy, SimDeployment, type SimDeploymentOptions } from '../helpers/sim-deployment.ts';

/** Names the share it was asked for, and waits for two rows at guests. */
function planFor({ system, aliveMax }: PlanProblem): Plan {
  const share = shareOf(system).toFixed(1);
  const policies = system.routing.map((_, i) => ({ kind: 'threshold' as const, threshold: i === 0 ? 1 : 2 }));
  return {
    entries: [{ alive: aliveMax, candidates: [{ name: `p=${share}`, policies, tokensPerSecond: 400 }] }],
  };
}
const shareOf = ({ routing }: SystemSpec): number => routing[0]?.slice(1).reduce((sum, p) => sum + p, 0) ?? 0;

interface World extends Partial<SimDeploymentOptions> {
  /** Share of the home's rows that go to a guest. */
  p: { now: number };
  replicas?: readonly number[];
  numRequests: number;
  maxTokens: number;
}

/** Subservers that schedule themselves, with an ear for their heartbeats. */
class SelfScheduled {
  readonly problems: PlanProblem[] = [];
  readonly reports = new Map<string, SchedulingReport>();
  readonly sim: SimDeployment;
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
    const { p, replicas = [1, 1], numRequests: _n, maxTokens: _m, ...rest } = world;
    const drawn: RouterFactory = ({ self, home, models }) => ({
      name: 'drawn',
      needs: {},
      onHandoff: self === home ? 'discard' : 'keep',
      route: (rows) =>
        rows.map(({ sampling, position }) => {
          const draw = uniform({ seed: sampling.seed, position, model: self, purpose: 'route' });
          if (self !== home) return home;
          return draw < p.now && models.length > 1 ? 2 + Math.floor((draw / p.now) * (models.length - 1)) : 0;
        }),
    });
    this.sim = new SimDeployment({
      models: replicas.map((count, i) => ({
        name: `m${i + 1}`,
        model: (tokens) => ({ token: 1 + (hashTokens(tokens, i) % 900), entropy: 0 }),
        replicas: count,
        stepMs: () => 6 + 10 * i,
        policySpec: { kind: 'auto', maxWaitMs: 100 },
        options: { resendMs: 60, heartbeatMs: 50 },
      })),
      routers: [{ id: 'drawn', use: 'drawn', options: {} }],
      factories: { drawn },
      solver: (clock) =>
        new InlineSolver(clock, (problem) => {
          this.problems.push(problem);
          return planFor(problem);
        }),
      ...rest,
    });
  }

  async start(): Promise<this> {
    const { sim, world } = this;
    await sim.start({ retryMs: 100 });
    sim.network.connect('ear').subscribe(sim.subjects.allHeartbeats(), ({ payload }) => {
      for (const beat of decodeFrame(payload).messages.filter(
        (one): one is Heartbeat => one.kind === 'heartbeat',
      ))
        if (beat.scheduling) this.reports.set(`${beat.model}.${beat.replica}`, beat.scheduling);
    });
    for (let i = 0; i < world.numRequests; i += 1) {
      const init = sim.init(2, { sampling: { ...greedy, seed: i }, maxTokens: world.maxTokens });
      sim.client.submit(`req-${i}`, [1 + i, 2], init);
    }
    return this;
  }

  async finish(): Promise<void> {
    await this.sim.clock.runUntil(() => this.sim.client.numOpen === 0, 600_000);
  }

  /** Every answer is that of the plain loop, whatever scheduled it. */
  verify(): void {
    const oracle = new Map<number, OracleModel>();
    for (const [id, routers] of this.sim.routers) {
      const router = routers.get('drawn');
      if (router)
        oracle.set(id, {
          model: (tokens) => ({ token: 1 + (hashTokens(tokens, id - 1) % 900), entropy: 0 }),
          router,
        });
    }
    for (let i = 0; i < this.world.numRequests; i += 1) {
      const limits = { maxTokens: this.world.maxTokens, stopIds: [0] };
      const expected = sequentialAnswer(oracle, 1, [1 + i, 2], { ...greedy, seed: i }, limits);
      expect(this.sim.client.streams.get(`req-${i}`)?.ids).toEqual(expected.ids);
    }
  }
}

const start = (world: World): Promise<SelfScheduled> => new SelfScheduled(world).start();

describe('a deployment that schedules itself', () => {
  it('measures, plans, and every replica follows; a shift of the routing is planned anew', async () => {
    const p = { now: 0.1 };
    const run = await start({ p, numRequests: 8, maxTokens: 900 });
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

  it('takes the time of choosing and committing rows for a part of a step: no other one begins meanwhile', async () => {
    const run = await start({ p: { now: 0.4 }, numRequests: 6, maxTokens: 60 });
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
    const run = await start({
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
      const run = await start({
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
      const run = await start({ p: { now: 0.3 }, replicas, numRequests: 8, maxTokens: 150 });
      await run.finish();
      run.verify();
      expect(run.problems[0]?.system.replicas).toEqual(replicas);
    }
  });

  it('plans that cannot be used are dropped: unknown policies, another number of models, not from the home', async () => {
    const run = await start({ p: { now: 0.4 }, numRequests: 4, maxTokens: 60, solver: () => mute });
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
    const run = await start({ p: { now: 0.4 }, numRequests: 4, maxTokens: 200, solver: () => mute });
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
      const run = await start({ p: { now: 0.4 }, numRequests: 6, maxTokens: 100, solver });
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
