import { expect } from 'vitest';
import { uniform } from '../../core/random.ts';
import type { RouterFactory } from '../../routers/router.ts';
import type { PolicySpec } from '../../scheduling/index.ts';
import {
  InlineSolver,
  type Plan,
  type PlanProblem,
  type SystemSpec,
} from '../../scheduling/planner/index.ts';
import { decodeFrame } from '../../transport/codec.ts';
import type { Heartbeat, SchedulingReport } from '../../transport/messages.ts';
import { hashTokens } from './chain-engine.ts';
import { sequentialAnswer, type OracleModel } from './sequential-oracle.ts';
import { greedy, SimDeployment, type SimDeploymentOptions } from './sim-deployment.ts';

/** Names the share it was asked for, and waits for two rows at guests. */
export function planFor({ system, aliveMax }: PlanProblem): Plan {
  const share = shareOf(system).toFixed(1);
  const policies = system.routing.map((_, i) => ({ kind: 'threshold' as const, threshold: i === 0 ? 1 : 2 }));
  return {
    entries: [{ alive: aliveMax, candidates: [{ name: `p=${share}`, policies, tokensPerSecond: 400 }] }],
  };
}
export const shareOf = ({ routing }: SystemSpec): number =>
  routing[0]?.slice(1).reduce((sum, p) => sum + p, 0) ?? 0;

export interface World extends Partial<SimDeploymentOptions> {
  /** Share of the home's rows that go to a guest. */
  p: { now: number };
  replicas?: readonly number[];
  /** Policies by configuration, for each model; default auto. */
  policies?: readonly PolicySpec[];
  numRequests: number;
  maxTokens: number;
}

/** Subservers that schedule themselves, with an ear for their heartbeats. */
export class SelfScheduled {
  readonly problems: PlanProblem[] = [];
  readonly reports = new Map<string, SchedulingReport>();
  readonly sim: SimDeployment;
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
    const { p, replicas = [1, 1], policies, numRequests: _n, maxTokens: _m, ...rest } = world;
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
        policySpec: policies?.[i] ?? { kind: 'auto', maxWaitMs: 100 },
        options: { resendMs: 60, heartbeatMs: 50, ...(policies ? { policies } : {}) },
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

/** Started, with all its requests asked. */
export const startSelfScheduled = (world: World): Promise<SelfScheduled> => new SelfScheduled(world).start();
