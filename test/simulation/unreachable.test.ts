import { describe, expect, it } from 'vitest';
import { encodeFrame } from '../../transport/codec.ts';
import { endless, models, pair, replica, start } from '../helpers/sim-pair.ts';

const resendMs = 40;

describe('a large model that does not answer', () => {
  it('costs a request the time of the repeats once, not at every token', async () => {
    const sim = await start();
    const large = replica(sim, 2);
    sim.network.configure({
      lossProbability: 1,
      isFaulty: (subject) => subject.startsWith('sim.model.large'),
    });
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 60 }));
    const startedMs = sim.clock.nowMs();
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    expect(stream.finish?.reason).toBe('length');
    expect(new Set(stream.models)).toEqual(new Set([1]));
    expect(large.subserver.numLive).toBe(0);
    // Three places are tried with 1 + 2 + 4 + 8 + 16 times the first wait each.
    expect(sim.clock.nowMs() - startedMs).toBeLessThan(3 * 31 * resendMs + 60 * 5 + 5000);
    expect(replica(sim, 1).subserver.counters.get('handoffs_sent')).toBeLessThanOrEqual(3);
  });

  it('is asked again after a while, and used once it answers', async () => {
    const options = { resendMs, silentModelMs: 200 };
    const sim = await start({ models: models({ small: { options } }) });
    sim.network.configure({
      lossProbability: 1,
      isFaulty: (subject) => subject.startsWith('sim.model.large'),
    });
    const first = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 20 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    expect(first.models).not.toContain(2);
    sim.network.configure({ lossProbability: 0 });
    await sim.clock.runFor(300);
    const second = sim.client.submit('req-2', [5, 6, 7], sim.init(3, { maxTokens: 60 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    expect(second.models).toContain(2);
  });

  it('is not asked again for a request that it refused for good', async () => {
    const sim = await start({ models: models({ large: { info: { maxModelLenTokens: 16 } } }) });
    const long = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 60 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    expect(long.finish?.reason).toBe('length');
    expect(replica(sim, 1).subserver.counters.get('handoffs_refused')).toBe(1);
    const short = sim.client.submit('req-2', [5, 6, 7], sim.init(3, { maxTokens: 12 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    expect(short.models).toContain(2);
  });
});

describe('a refusal that may pass', () => {
  it('of a guest that had the request from another guest does not keep the home from asking it later', async () => {
    const { isReachable } = await import('../../actors/subserver/reachable.ts');
    const [small, large] = models();
    if (!small || !large) throw new Error('no models');
    const sim = await start({ models: [small, large, { ...large, name: 'third' }] }); // handoffs go to the last one
    const stream = sim.client.submit('req-1', [5, 6, 7], sim.init(3, { maxTokens: 60 }));
    await sim.clock.runUntil(() => stream.models.includes(3), 60_000);
    const context = replica(sim, 1).subserver['serving']?.context;
    const request = context?.table.home('req-1');
    if (!context || !request) throw new Error('no such request');
    await sim.clock.runUntil(() => request.lifecycle.phase === 'pending', 60_000);
    const refusal = {
      kind: 'reject',
      rid: 'req-1',
      term: request.term,
      hop: request.hop,
      message: '',
    } as const;
    const forged = { ...refusal, model: 2, replica: 'r0', code: 'overloaded', retryable: true };
    sim.network.connect('guest').publish(sim.subjects.replica('small', 'r0'), encodeFrame([forged]));
    await sim.clock.runUntil(() => context.counters.get('handoffs_refused') > 0, 1000);
    expect(isReachable(context, request, 2)).toBe(true);
  });
});

describe('replicas of another configuration', () => {
  it('take neither requests nor handoffs; the others answer', async () => {
    const expected = await start();
    const alone = expected.client.submit('req-1', [5, 6, 7], expected.init(3, { maxTokens: 40 }));
    await expected.clock.runUntil(() => expected.client.numOpen === 0, 60_000);

    const sim = await start({ models: models({ large: { replicas: 2 } }) });
    const [, large] = models();
    const routers = sim.routers.get(2);
    if (!large || !routers) throw new Error('no large model');
    const stranger = { ...large, options: { configHash: 'other' } };
    void sim.add(2, stranger, 'stranger', routers);
    await sim.clock.runUntil(() => replica(sim, 2, 'stranger').subserver.state === 'serving', 1000, 1);
    for (let i = 0; i < 12; i += 1) {
      const init = sim.init(3, { maxTokens: 40, configHash: 'test' });
      sim.client.submit(`req-${i}`, [5, 6, 7], init);
    }
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    const refused = replica(sim, 2, 'stranger').subserver.counters;
    expect(refused.get('requests_rejected')).toBeGreaterThan(0);
    expect(refused.get('steps')).toBe(0);
    for (const stream of sim.client.streams.values()) {
      expect(stream.finish?.reason).toBe('length');
      if (!stream.models.includes(2)) continue; // three strangers in a row: the home went on alone
      expect(stream.ids).toHaveLength(alone.ids.length);
    }
  });
});

describe('handoffs with more tokens than prompt and answer may have', () => {
  it('cost nobody but themselves', async () => {
    const sim = await start({ models: models({ small: { model: endless(pair.small) } }) });
    const good = sim.client.submit('req-good', [5, 6, 7], sim.init(3, { maxTokens: 60 }));
    const forger = sim.network.connect('forger');
    const tokens = Array.from({ length: 600 }, () => 9);
    const home = { model: 1, replica: 'nobody' };
    const common = {
      kind: 'peer-req',
      rid: 'req-evil',
      term: 0,
      hop: 1,
      from: 1,
      fromReplica: 'nobody',
      to: 2,
    } as const;
    const frame = encodeFrame([
      { ...common, suffix: tokens, loc: 600, home, init: sim.init(3, { maxTokens: 40 }) },
    ]);
    forger.publish(sim.subjects.model('large'), frame);
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    expect(good.finish?.reason).toBe('length');
    expect(good.models).toContain(2);
    expect(replica(sim, 2).subserver.counters.get('requests_rejected')).toBe(1);
  });
});

describe('first contacts', () => {
  it('of one step spread over the replicas of a model', async () => {
    const sim = await start({ models: models({ large: { replicas: 4 } }) });
    for (let i = 0; i < 32; i += 1) sim.client.submit(`req-${i}`, [5, 6, 7], sim.init(3, { maxTokens: 20 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    const taken = ['r0', 'r1', 'r2', 'r3'].map((name) =>
      replica(sim, 2, name).subserver.counters.get('steps'),
    );
    expect(Math.min(...taken)).toBeGreaterThan(0);
  });
});
