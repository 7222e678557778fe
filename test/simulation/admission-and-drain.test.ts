import { describe, expect, it } from 'vitest';
import { createPolicy } from '../../scheduling/index.ts';
import { encodeFrame } from '../../transport/codec.ts';
import { greedy } from '../helpers/sim-deployment.ts';
import { models, replica, start } from '../helpers/sim-pair.ts';

describe('admission', () => {
  it('refuses at once what can never fit, unknown routers, wrong ids and too many', async () => {
    const info = { numKvBlocks: 4, blockSizeTokens: 16, maxModelLenTokens: 256 };
    const sim = await start({ models: models({ small: { info, options: { maxLiveRequests: 2 } } }) });
    const submit = (rid: string, tokens: number[], change = {}) =>
      sim.client.submit(rid, tokens, sim.init(tokens.length, change));
    const long = submit('req-long', [1], { maxTokens: 300 });
    const big = submit('req-big', [1], { maxTokens: 100 });
    const router = submit('req-router', [1], { router: 'nope' });
    const ids = submit('req-ids', [1, 5000]);
    submit('req-a', [1], { maxTokens: 40 });
    submit('req-b', [2], { maxTokens: 40 });
    const third = submit('req-c', [3], { maxTokens: 40 });
    await sim.clock.runFor(20);
    expect(long.rejectedWith).toBe('context_length_exceeded');
    expect(big.rejectedWith).toBe('context_length_exceeded');
    expect(router.rejectedWith).toBe('invalid_request');
    expect(ids.rejectedWith).toBe('invalid_request');
    expect(third.rejectedWith).toBe('overloaded');
  });

  it('is idempotent: a repeated Admit changes nothing', async () => {
    const sim = await start();
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 30 }));
    const admit = encodeFrame([
      {
        kind: 'admit',
        rid: 'req-1',
        term: 0,
        tokens: [5, 6, 7],
        init: sim.init(3, { maxTokens: 30 }),
        gateway: 'gw',
      },
    ]);
    const bus = sim.network.connect('copier');
    for (let i = 0; i < 5; i += 1) {
      bus.publish(sim.subjects.model('small'), admit, {
        reply: sim.subjects.inbox('gateway', 'gw', 'req-1'),
      });
      await sim.clock.runFor(7);
    }
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 10_000);
    expect(stream.ids).toHaveLength(30);
    expect(replica(sim, 1).subserver.counters.get('requests_admitted')).toBe(1);
  });
});

describe('draining', () => {
  it('finishes what it has, takes nothing new, then stops', async () => {
    const sim = await start();
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 40 }));
    await sim.clock.runFor(10);
    let isStopped = false;
    void replica(sim, 1)
      .subserver.drain(10_000)
      .then(() => {
        isStopped = true;
      });
    await sim.clock.runFor(2);
    expect(replica(sim, 1).subserver.state).toBe('draining');
    await sim.clock.runUntil(() => isStopped, 10_000, 1);
    await sim.clock.runFor(1);
    expect(stream.finish?.reason).toBe('length');
    expect(replica(sim, 1).subserver.state).toBe('stopped');
    expect(replica(sim, 1).engine.isClosed).toBe(true);
  });

  it('ends with an error what does not finish in time', async () => {
    const sim = await start();
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 4000 }));
    await sim.clock.runFor(10);
    let isStopped = false;
    void replica(sim, 1)
      .subserver.drain(50)
      .then(() => {
        isStopped = true;
      });
    await sim.clock.runUntil(() => isStopped, 200, 1);
    await sim.clock.runFor(5);
    expect(stream.finish?.error?.code).toBe('shutting_down');
  });

  it('gives a guest’s requests back to their homes', async () => {
    const sim = await start({ models: models({ large: { replicas: 2 } }) });
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 200 }));
    await sim.clock.runUntil(() => stream.models.includes(2), 10_000);
    const holder = sim.replicas.find(({ model, subserver }) => model === 2 && subserver.numLive > 0);
    void holder?.subserver.drain(5);
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000, 1);
    expect(stream.finish?.reason).toBe('length');
    expect(stream.ids).toHaveLength(200);
  });
});

describe('thresholds never hang', () => {
  it('for a lone request, for left-overs and when the others end', async () => {
    for (const threshold of [1, 3, 8]) {
      for (const numRequests of [1, 2, 7, 9]) {
        const policy = createPolicy({ kind: 'threshold', threshold, maxWaitMs: 100_000 });
        const sim = await start({ models: models({ small: { policy }, large: { policy } }) });
        for (let i = 0; i < numRequests; i += 1) {
          const init = sim.init(2, { maxTokens: 10 + 7 * i, sampling: greedy });
          sim.client.submit(`req-${i}`, [3, i + 1], init);
        }
        // No waiting for maxWaitMs: the other escapes must be enough.
        await sim.clock.runUntil(() => sim.client.numOpen === 0, 50_000);
      }
    }
  });
});
