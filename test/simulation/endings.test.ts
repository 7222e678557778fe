import { describe, expect, it } from 'vitest';
import type { RouterFactory } from '../../routers/router.ts';
import type { ScriptedModel } from '../helpers/chain-engine.ts';
import { endless, models, pair, replica, start } from '../helpers/sim-pair.ts';

describe('ends of a request', () => {
  it('frees both sides within a step when the client aborts, wherever the request is', async () => {
    for (let afterMs = 1; afterMs < 60; afterMs += 3) {
      const sim = await start();
      sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 500 }));
      await sim.clock.runFor(afterMs);
      sim.client.abort('req-1', 'abort');
      await sim.clock.runFor(9 + 1);
      expect(sim.numSequencesHeld).toBe(0);
      expect(sim.client.streams.get('req-1')?.finish?.reason).toBe('abort');
      const loads = sim.replicas.map(({ subserver }) => subserver.numLive);
      expect(loads).toEqual([0, 0]);
    }
  });

  it('keeps exactly the tokens up to a stop string', async () => {
    const sim = await start();
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 500 }));
    await sim.clock.runUntil(() => stream.ids.length > 20, 10_000);
    const known = stream.ids.slice(0, 12);
    sim.client.abort('req-1', 'stop', 12);
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 1000);
    expect(stream.finish?.reason).toBe('stop');
    expect(stream.finish?.usage.completionTokens).toBe(12);
    expect(stream.finish?.usage.tokensByModel.reduce((sum, [, n]) => sum + n, 0)).toBe(12);
    expect(stream.ids).toEqual(known);
  });

  it('ends at the deadline, also while the large model has the request', async () => {
    const sim = await start({ models: models({ large: { stepMs: () => 5000 } }) });
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 500 }), 100);
    await sim.clock.runFor(110);
    expect(stream.finish?.reason).toBe('deadline');
    expect(stream.finish?.error?.code).toBe('deadline_exceeded');
    await sim.clock.runFor(6000);
    expect(sim.numSequencesHeld).toBe(0);
  });

  it('stops at max_tokens exactly, whoever writes the last token', async () => {
    for (let maxTokens = 1; maxTokens <= 12; maxTokens += 1) {
      const sim = await start();
      const stream = sim.client.submit('req-1', [9, 9], sim.init(2, { maxTokens }));
      await sim.clock.runUntil(() => sim.client.numOpen === 0, 10_000);
      expect(stream.ids).toHaveLength(maxTokens);
      expect(stream.finish?.reason).toBe('length');
      expect(stream.finish?.usage.completionTokens).toBe(maxTokens);
      await sim.clock.runFor(50);
      expect(sim.numSequencesHeld).toBe(0);
    }
  });

  it('fails only the row whose logits are not finite, at the home and at the guest', async () => {
    for (const sick of ['small', 'large'] as const) {
      const spoil =
        (model: ScriptedModel): ScriptedModel =>
        (tokens, sampling) => ({
          ...endless(model)(tokens, sampling),
          isBroken: tokens[0] === 13 && tokens.length > 6,
        });
      const sim = await start({ models: models({ [sick]: { model: spoil(pair[sick]) } }) });
      const bad = sim.client.submit('req-bad', [13, 2], sim.init(2, { maxTokens: 60 }));
      const good = sim.client.submit('req-good', [14, 2], sim.init(2, { maxTokens: 60 }));
      await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
      expect(bad.finish?.error?.code).toBe('numerical_failure');
      expect(good.finish?.reason).toBe('length');
      await sim.clock.runFor(50);
      expect(sim.numSequencesHeld).toBe(0);
    }
  });

  it('fails only the request whose router breaks, and names the router', async () => {
    const broken: RouterFactory = ({ self, home }) => ({
      name: 'my-router',
      needs: {},
      onHandoff: self === home ? 'discard' : 'keep',
      route: (rows) =>
        rows.map((row) => {
          if (row.rid === 'req-throws') throw new Error('oops');
          if (row.rid === 'req-nan') return NaN;
          return row.rid === 'req-range' ? 3 : 0;
        }),
    });
    const sim = await start({
      routers: [{ id: 'mine', use: 'mine', options: {} }],
      factories: { mine: broken },
    });
    for (const rid of ['req-throws', 'req-nan', 'req-range', 'req-good']) {
      sim.client.submit(rid, [4, 4], sim.init(2, { maxTokens: 10 }));
    }
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 10_000);
    for (const rid of ['req-throws', 'req-nan', 'req-range']) {
      const error = sim.client.streams.get(rid)?.finish?.error;
      expect(error?.code).toBe('router_failed');
      expect(error?.message).toContain('my-router');
    }
    expect(sim.client.streams.get('req-good')?.finish?.reason).toBe('length');
  });
});

it('fails only the request whose router sends what cannot travel', async () => {
  const sending: RouterFactory = ({ self, home }) => ({
    name: 'chatty',
    needs: {},
    onHandoff: self === home ? 'discard' : 'keep',
    route: (rows) => rows.map(() => (self === home ? 2 : 1)),
    send: ({ rid, tokens, peerLocs }, to) => ({
      suffix: tokens.slice(peerLocs.get(to) ?? 0),
      loc: tokens.length,
      algo: { [rid === 'req-bad' ? 'not a name' : 'fine']: 1 },
    }),
  });
  const sim = await start({
    routers: [{ id: 'mine', use: 'mine', options: {} }],
    factories: { mine: sending },
  });
  const bad = sim.client.submit('req-bad', [4, 4], sim.init(2, { maxTokens: 10 }));
  const good = sim.client.submit('req-good', [4, 5], sim.init(2, { maxTokens: 10 }));
  await sim.clock.runUntil(() => sim.client.numOpen === 0, 10_000);
  expect(bad.finish?.error?.code).toBe('router_failed');
  expect(bad.finish?.error?.message).toContain('not a name');
  expect(good.finish?.reason).toBe('length');
});

describe('a guest that is not to be had', () => {
  it('lets the home write on alone when no replica of the large model exists', async () => {
    const sim = await start({ models: models({ large: { replicas: 0 } }) });
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 30 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 10_000);
    expect(stream.finish?.reason).toBe('length');
    expect(new Set(stream.models)).toEqual(new Set([1]));
    expect(replica(sim, 1).subserver.counters.get('handoffs_local')).toBeGreaterThan(0);
  });

  it('moves the request to another replica when the first one dies, and loses or doubles nothing', async () => {
    const alive = await start({ models: models({ large: { replicas: 2 } }) });
    const expected = alive.client.submit('req-1', [5, 6, 7], alive.init(3, { maxTokens: 120 }));
    await alive.clock.runUntil(() => alive.client.numOpen === 0, 60_000);

    for (let afterMs = 5; afterMs < 400; afterMs += 40) {
      const sim = await start({ models: models({ large: { replicas: 2 } }) });
      const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 120 }));
      await sim.clock.runFor(afterMs);
      const holder = sim.replicas.find(({ model, subserver }) => model === 2 && subserver.numLive > 0);
      await holder?.bus.close(); // dies without a word
      await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
      expect(stream.ids).toEqual(expected.ids);
      expect(stream.models).toEqual(expected.models);
      if (holder) expect(replica(sim, 1).subserver.counters.get('peers_lost')).toBeGreaterThan(0);
    }
  });

  it('sends the whole sequence again to a guest that lost its memory', async () => {
    const alive = await start();
    const expected = alive.client.submit('req-1', [5, 6, 7], alive.init(3, { maxTokens: 80 }));
    await alive.clock.runUntil(() => alive.client.numOpen === 0, 60_000);

    const sim = await start();
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 80 }));
    await sim.clock.runUntil(() => stream.models.includes(2), 10_000);
    const old = replica(sim, 2);
    await old.bus.close();
    const spec = models()[1];
    const routers = sim.routers.get(2);
    if (!spec || !routers) throw new Error('no spec');
    sim.replicas.splice(sim.replicas.indexOf(old), 1);
    void sim.add(2, spec, 'r0', routers); // the same name, an empty memory
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    expect(stream.ids).toEqual(expected.ids);
    expect(replica(sim, 2).subserver.counters.get('needs_prefix_sent')).toBeGreaterThan(0);
  });

  it('does not give up a guest that is only slow', async () => {
    const sim = await start({ models: models({ large: { stepMs: () => 700 } }) });
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 12 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    expect(stream.finish?.reason).toBe('length');
    expect(stream.models).toContain(2);
    expect(replica(sim, 1).subserver.counters.get('handoffs_repeated')).toBeGreaterThan(0);
    expect(replica(sim, 1).subserver.counters.get('handoffs_local')).toBe(0);
  });

  it('goes on alone for a request that the guest refuses', async () => {
    const sim = await start({ models: models({ large: { info: { maxModelLenTokens: 16 } } }) });
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 30 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 10_000);
    expect(stream.finish?.reason).toBe('length');
    expect(new Set(stream.models)).toEqual(new Set([1]));
    expect(replica(sim, 1).subserver.counters.get('handoffs_refused')).toBeGreaterThan(0);
  });

  it('frees guests whose home died', async () => {
    const sim = await start();
    sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 500 }));
    await sim.clock.runUntil(() => replica(sim, 2).subserver.numLive > 0, 1000);
    await replica(sim, 1).bus.close();
    await sim.clock.runFor(100);
    expect(replica(sim, 2).subserver.numLive).toBe(0);
    expect(replica(sim, 2).engine.kv.size).toBe(0);
  });
});
