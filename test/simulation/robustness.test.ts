import { describe, expect, it } from 'vitest';
import type { StepOutcome } from '../../engine/engine.ts';
import { createPolicy, type StartPolicy } from '../../scheduling/index.ts';
import { endless, models, pair, replica, start } from '../helpers/sim-pair.ts';
import { SimDeployment } from '../helpers/sim-deployment.ts';
import { handoffToGuest, SimPeer } from '../helpers/sim-peer.ts';

describe('what goes wrong inside costs one request at most', () => {
  it('a row whose handling throws fails alone, and the loop goes on', async () => {
    const sim = await start();
    const { engine } = replica(sim, 1);
    const step = engine.step.bind(engine);
    let poisoned: number | undefined;
    engine.step = (batch, onDone) => {
      const spoil = (outcome: StepOutcome): StepOutcome => {
        if (!outcome.ok || outcome.rows.length < 2) return outcome;
        poisoned ??= outcome.rows[0]?.seq;
        const rows = outcome.rows.map((row) => {
          if (row.seq !== poisoned) return row;
          return Object.defineProperty({ ...row }, 'topValues', {
            get() {
              throw new Error('poison');
            },
          });
        });
        return { ...outcome, rows };
      };
      step(batch, (outcome) => onDone(spoil(outcome)));
    };
    for (const rid of ['req-a', 'req-b', 'req-c']) {
      sim.client.submit(rid, [4, rid.charCodeAt(4)], sim.init(2, { maxTokens: 30 }));
    }
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    const reasons = [...sim.client.streams.values()].map(
      ({ finish }) => finish?.error?.code ?? finish?.reason,
    );
    expect(reasons.sort()).toEqual(['internal', 'length', 'length']);
    await sim.clock.runFor(50);
    expect(sim.numSequencesHeld).toBe(0);
  });

  it('a start policy that throws does not keep requests waiting', async () => {
    const policy: StartPolicy = {
      name: 'broken',
      decide: () => {
        throw new Error('no decision');
      },
    };
    const sim = await start({ models: models({ small: { policy }, large: { policy } }) });
    const stream = sim.client.submit('req-1', [5, 6], sim.init(2, { maxTokens: 20 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 10_000);
    expect(stream.finish?.reason).toBe('length');
  });

  it('an engine whose steps fail as a whole fails its rows, and the next requests run', async () => {
    const sim = await start();
    const { engine } = replica(sim, 1);
    const step = engine.step.bind(engine);
    let numCalls = 0;
    engine.step = (batch, onDone) => {
      numCalls += 1;
      if (numCalls === 1) throw new Error('not loaded');
      step(batch, onDone);
    };
    const first = sim.client.submit('req-1', [5, 6], sim.init(2, { maxTokens: 5 }));
    await sim.clock.runFor(5);
    const second = sim.client.submit('req-2', [5, 6], sim.init(2, { maxTokens: 5 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 10_000);
    expect(first.finish?.error?.code).toBe('engine_failed');
    expect(second.finish?.reason).toBe('length');
  });
});

describe('nobody starves', () => {
  it('a long prompt moves on although more rows decode than the token budget has room for', async () => {
    const sure = { model: endless((tokens, sampling) => ({ ...pair.small(tokens, sampling), entropy: 0 })) };
    const sim = await start({
      models: models({ small: { ...sure, options: { maxNumBatchedTokens: 4 }, info: { maxNumSeqs: 16 } } }),
    });
    for (let i = 0; i < 6; i += 1)
      sim.client.submit(`req-${i}`, [3, i + 1], sim.init(2, { maxTokens: 2000 }));
    await sim.clock.runFor(50);
    const prompt = Array.from({ length: 60 }, (_, i) => 1 + i);
    const late = sim.client.submit('req-late', prompt, sim.init(60, { maxTokens: 2 }));
    await sim.clock.runUntil(() => late.finish !== undefined, 1000);
    expect(sim.client.numOpen).toBe(6);
  });

  it('for requests of a home that died: nobody waits for rows that it announced once', async () => {
    const policy = createPolicy({ kind: 'threshold', threshold: 8, maxWaitMs: 1_000_000 });
    const sim = await start({ models: models({ small: { policy, replicas: 2 }, large: { policy } }) });
    for (let i = 0; i < 8; i += 1) sim.client.submit(`req-${i}`, [3, i + 1], sim.init(2, { maxTokens: 400 }));
    await sim.clock.runFor(100);
    const [died] = sim.replicas.filter(({ model, name }) => model === 1 && name === 'r1');
    await died?.bus.close();
    const ofOther = [...sim.client.streams.values()].filter(({ homeReplica }) => homeReplica === 'r0');
    expect(ofOther.length).toBeGreaterThan(0);
    expect(ofOther.length).toBeLessThan(8);
    await sim.clock.runUntil(() => ofOther.every(({ finish }) => finish !== undefined), 60_000);
  });
});

describe('starting and stopping', () => {
  it('a drain ends in time although the bus does not answer', async () => {
    const sim = await start();
    const { bus, subserver } = replica(sim, 1);
    for (const subscription of bus.subscriptions) subscription.drain = () => new Promise(() => {});
    let isStopped = false;
    void subserver.drain(100).then(() => {
      isStopped = true;
    });
    await sim.clock.runUntil(() => isStopped, 200, 1);
    expect(subserver.state).toBe('stopped');
  });

  it('a subserver stopped while its model loads takes nothing afterwards', async () => {
    const sim = await new SimDeployment({ models: models({ small: { replicas: 0 } }) }).start();
    const spec = models()[0];
    const routers = sim.routers.get(1);
    if (!spec || !routers) throw new Error('no spec');
    const started = sim.add(1, spec, 'late', routers);
    const { subserver, bus } = replica(sim, 1, 'late');
    const stopped = subserver.stop();
    const outcome = started.then(
      () => 'started',
      (error: { code: string }) => error.code,
    );
    let isOver = false;
    void Promise.all([stopped, outcome]).then(() => {
      isOver = true;
    });
    await sim.clock.runUntil(() => isOver, 1000, 1);
    expect(await outcome).toBe('shutting_down');
    expect(bus.subscriptions.size).toBe(0);
  });
});

describe('a message that no frame can carry', () => {
  it('at a guest: its home hears at once, and the state is freed', async () => {
    const unsure = {
      model: endless((tokens, sampling) => ({ ...pair.large(tokens, sampling), entropy: 1 })),
    };
    const sim = await start({
      models: models({ large: { ...unsure, stepMs: () => 1 } }),
      network: { hopMs: 0.1, maxPayloadBytes: 1000 },
    });
    const home = new SimPeer(sim, 'fake-home', [sim.subjects.replica('small', 'fake')]);
    const subject = sim.subjects.replica('large', 'r0');
    home.say(subject, handoffToGuest(sim, { init: sim.init(3, { maxTokens: 2000 }) }));
    await sim.clock.runFor(300);
    const about = { rid: 'req-1', term: 0, hop: 1, from: 1, fromReplica: 'fake' };
    home.say(subject, { kind: 'needs-prefix', ...about, have: 3 });
    await sim.clock.runFor(3);
    expect(home.of('reject')).toMatchObject([{ code: 'payload_over_bus_limit', hop: 1, retryable: false }]);
    expect(replica(sim, 2).subserver.numLive).toBe(0);
  });
});
