import { expect } from 'vitest';
import type { SamplingParams } from '../../core/request.ts';
import { createPolicy } from '../../scheduling/index.ts';
import { decodeFrame } from '../../transport/codec.ts';
import type { ScriptedModel } from './chain-engine.ts';
import { drawnDestinations, scriptedModels } from './chaos-models.ts';
import type { Chaos } from './chaos-scenario.ts';
import { sequentialAnswer, type OracleModel } from './sequential-oracle.ts';
import type { Stream } from './sim-client.ts';
import { greedy, SimDeployment, type SimModel, type SimReplica } from './sim-deployment.ts';
import { VisitWatch } from './visit-watch.ts';

/** One run with all that happened to it, for assertions. */
export class ChaosRun {
  readonly scenario: Chaos;
  readonly models: ScriptedModel[];
  readonly specs: SimModel[];
  readonly sim: SimDeployment;
  readonly prompts: number[][];
  /** Requests whose guests were given up at some time, by rid. */
  readonly recovered = new Set<string>();
  /** Home replicas that took a request, by rid. */
  private readonly homes = new Map<string, Set<string>>();
  readonly kvUsed = new Map<string, number>();
  private watch: VisitWatch | undefined;
  numHandoffs = 0;
  /** Requests compared with the sequential loop token for token. */
  numExact = 0;
  private readonly dead: SimReplica[] = [];
  private numDown = 0;
  private drainedHome: string | undefined;
  private isDrained = true;

  constructor(scenario: Chaos) {
    this.scenario = scenario;
    this.models = scriptedModels(scenario);
    const kv = scenario.isKvTiny ? { numKvBlocks: 6, blockSizeTokens: 16, maxNumSeqs: 4 } : {};
    this.specs = this.models.map((model, i) => ({
      name: `m${i + 1}`,
      model,
      replicas: scenario.replicas[i] ?? 1,
      stepMs: (rows) => 2 + 3 * i + 0.1 * rows,
      policy: createPolicy(scenario.policies[i] ?? { kind: 'eager' }),
      info: kv,
      options: { resendMs: 40, guestIdleMs: 1000, maxNumBatchedTokens: scenario.budget },
    }));
    this.sim = new SimDeployment({
      models: this.specs,
      network: scenario.network,
      ...(scenario.numModels === 3
        ? {
            routers: [{ id: 'drawn', use: 'drawn', options: {} }],
            factories: { drawn: drawnDestinations },
          }
        : {}),
    });
    this.prompts = Array.from({ length: scenario.numRequests }, (_, i) =>
      Array.from({ length: 1 + ((i * 7) % 40) }, (__, j) => 1 + ((i * 31 + j * 17) % 900)),
    );
  }

  sampling(i: number): SamplingParams {
    return { ...greedy, seed: i, temperature: this.scenario.isSampled ? 0.8 : 0 };
  }

  async run(): Promise<this> {
    const { sim, scenario } = this;
    await sim.start({ retryMs: scenario.retryMs });
    this.watch = new VisitWatch(sim);
    this.listen();
    this.prompts.forEach((prompt, i) => {
      const init = sim.init(prompt.length, { sampling: this.sampling(i), maxTokens: scenario.maxTokens });
      const deadline = scenario.deadlines.find(({ request: of }) => of === i)?.ms;
      sim.client.submit(`req-${i}`, prompt, init, deadline);
    });
    this.plan();
    await sim.clock.runUntil(() => this.isDone(), 600_000);
    // Whatever nobody speaks of any more must go by itself on a healthy network.
    sim.network.configure({ lossProbability: 0, duplicateProbability: 0, reorderProbability: 0 });
    await sim.clock.runFor(2500);
    return this;
  }

  /** Asserts what must hold whatever happened. */
  verify(): void {
    const { sim } = this;
    expect(sim.numSequencesHeld).toBe(0);
    expect(this.watch?.idleVisits).toEqual([]);
    for (const { subserver, name, model } of sim.replicas) {
      expect([model, name, subserver.numLive]).toEqual([model, name, 0]);
    }
    for (const [who, used] of this.kvUsed) expect([who, used]).toEqual([who, 0]);
    const numLocal = [...sim.replicas, ...this.dead].reduce(
      (sum, { subserver }) => sum + subserver.counters.get('handoffs_local'),
      0,
    );
    this.prompts.forEach((prompt, i) => {
      const stream = sim.client.streams.get(`req-${i}`);
      if (!stream) throw new Error('no stream');
      // A home that admits a request again at the model it last heard of may cut a span of three models short.
      const isExact = numLocal === 0 && (this.scenario.numModels === 2 || !this.recovered.has(stream.rid));
      if (isExact) this.numExact += 1;
      // Two homes write the same unless one had to go on alone; a client cannot tell whose tokens it gets.
      if (isExact || (this.homes.get(stream.rid)?.size ?? 0) < 2) this.verifyTokens(prompt, i, stream);
      this.verifyEnd(prompt, i, stream, isExact);
    });
  }

  /** Every token is what the model named as its origin says after exactly the tokens before it. */
  private verifyTokens(prompt: readonly number[], i: number, stream: Stream): void {
    const tokens = [...prompt];
    stream.ids.forEach((id, position) => {
      const model = this.models[(stream.models[position] ?? 0) - 1];
      expect([stream.rid, position, id]).toEqual([
        stream.rid,
        position,
        model?.(tokens, this.sampling(i)).token,
      ]);
      tokens.push(id);
    });
  }

  private verifyEnd(prompt: readonly number[], i: number, stream: Stream, isExact: boolean): void {
    const { scenario, sim } = this;
    const limits = { maxTokens: scenario.maxTokens, stopIds: [0] };
    const oracle = new Map<number, OracleModel>();
    this.models.forEach((model, index) => {
      const router = sim.routers
        .get(index + 1)
        ?.values()
        .next().value;
      if (router) oracle.set(index + 1, { model, router });
    });
    const expected = sequentialAnswer(oracle, 1, prompt, this.sampling(i), limits);
    if (isExact) expect(stream.ids).toEqual(expected.ids.slice(0, stream.ids.length));
    if (scenario.aborts.some(({ request: of }) => of === i)) return;
    if (scenario.deadlines.some(({ request: of }) => of === i)) return;
    if (stream.rejectedWith !== undefined) {
      expect([stream.rejectedWith, this.drainedHome]).toEqual(['shutting_down', expect.any(String)]);
      return;
    }
    if (stream.finish === undefined) {
      expect(stream.homeReplica).toBe(this.drainedHome);
      return;
    }
    expect(stream.finish.error).toBeUndefined();
    expect(['eos', 'length']).toContain(stream.finish.reason);
    if (isExact) {
      expect(stream.models).toEqual(expected.models);
      expect(stream.ids).toEqual(expected.ids);
      expect(stream.finish.reason).toBe(expected.reason);
    }
  }

  private isDone(): boolean {
    if (this.numDown > 0 || !this.isDrained) return false;
    for (const { finish, rejectedWith, homeReplica } of this.sim.client.streams.values()) {
      const isHomeStopped = homeReplica !== undefined && homeReplica === this.drainedHome;
      if (!finish && rejectedWith === undefined && !isHomeStopped) return false;
    }
    return true;
  }

  private listen(): void {
    const { sim } = this;
    const ears = sim.network.connect('listener');
    ears.subscribe(sim.subjects.allHeartbeats(), ({ payload }) => {
      for (const message of decodeFrame(payload).messages) {
        if (message.kind === 'heartbeat')
          this.kvUsed.set(`${message.model} ${message.replica}`, message.kvUsedBlocks);
      }
    });
    const route = sim.network.route.bind(sim.network);
    sim.network.route = (from, subject, payload, reply) => {
      for (const message of decodeFrame(payload).messages) {
        if (message.kind === 'admitted' && message.model === 1)
          this.homes.set(message.rid, (this.homes.get(message.rid) ?? new Set()).add(message.replica));
        if (message.kind !== 'peer-req') continue;
        this.numHandoffs += 1;
        if (message.term > 0) this.recovered.add(message.rid);
      }
      route(from, subject, payload, reply);
    };
  }

  private plan(): void {
    const { clock, client } = this.sim;
    const { aborts, crashes, outages, homeDrainMs } = this.scenario;
    for (const { request: i, atMs, at } of aborts) {
      const stream = client.streams.get(`req-${i}`);
      if (!stream) continue;
      const abort = (): void => {
        if (stream.finish || stream.rejectedWith !== undefined) return;
        if (stream.homeReplica !== undefined) {
          const isStop = at !== undefined && at <= stream.ids.length;
          client.abort(stream.rid, isStop ? 'stop' : 'abort', isStop ? at : undefined);
        }
        clock.setTimer(100, abort); // until it is heard
      };
      clock.setTimer(atMs, abort);
    }
    for (const { model, replica, atMs, downMs } of crashes)
      clock.setTimer(atMs, () => void this.crash(model, `r${replica}`, downMs));
    for (const { model, replica, atMs, forMs } of outages)
      clock.setTimer(atMs, () => this.cut(model, `r${replica}`, forMs));
    if (homeDrainMs !== undefined && (this.scenario.replicas[0] ?? 1) > 1)
      clock.setTimer(homeDrainMs, () => this.drain());
  }

  /** The process dies without a word; a new one of the same name starts later, with an empty memory. */
  private async crash(model: number, name: string, downMs: number): Promise<void> {
    const { sim } = this;
    const index = sim.replicas.findIndex((one) => one.model === model && one.name === name);
    const spec = this.specs[model - 1];
    const routers = sim.routers.get(model);
    const [old] = index < 0 ? [] : sim.replicas.splice(index, 1);
    if (!old || !spec || !routers) return;
    this.dead.push(old);
    this.numDown += 1;
    sim.clock.setTimer(downMs, () => {
      void sim.add(model, spec, name, routers).then(() => {
        this.numDown -= 1;
      });
    });
    this.kvUsed.delete(`${model} ${name}`);
    await old.bus.close();
  }

  private cut(model: number, name: string, forMs: number): void {
    const bus = this.sim.replicas.find((one) => one.model === model && one.name === name)?.bus;
    if (!bus || bus.status !== 'connected') return;
    this.numDown += 1;
    bus.disconnect();
    this.sim.clock.setTimer(forMs, () => {
      if (bus.status === 'disconnected') bus.reconnect();
      this.numDown -= 1;
    });
  }

  private drain(): void {
    const home = this.sim.replicas.find(({ model, name }) => model === 1 && name === 'r0');
    if (!home) return;
    this.drainedHome = home.name;
    this.isDrained = false;
    void home.subserver.drain(300_000).then(() => {
      this.isDrained = true;
      this.kvUsed.delete('1 r0');
    });
  }
}
