import { describe, expect, it } from 'vitest';
import type { PeerReq } from '../../transport/messages.ts';
import { drawnDestinations } from '../helpers/chaos-models.ts';
import { greedy, type SimDeployment } from '../helpers/sim-deployment.ts';
import { models, pair, replica, start } from '../helpers/sim-pair.ts';
import { handoffToGuest, SimPeer } from '../helpers/sim-peer.ts';

const prompt = [5, 6, 7];

/** What an undisturbed deployment writes. */
async function undisturbed(maxTokens: number): Promise<number[]> {
  const sim = await start();
  const stream = sim.client.submit('req-1', prompt, sim.init(3, { maxTokens }));
  await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
  return stream.ids;
}

describe('outages', () => {
  it('of a home last as long as they like: nothing is lost and no guest is given up', async () => {
    const expected = await undisturbed(60);
    for (const atMs of [3, 15, 40, 90]) {
      const sim = await start();
      const stream = sim.client.submit('req-1', prompt, sim.init(3, { maxTokens: 60 }));
      await sim.clock.runFor(atMs);
      const home = replica(sim, 1);
      home.bus.disconnect();
      await sim.clock.runFor(20_000); // many times what all repeats take
      home.bus.reconnect();
      await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
      expect(stream.ids).toEqual(expected);
      expect(home.subserver.counters.get('handoffs_local')).toBe(0);
    }
  });
});

describe('a guest that was given up', () => {
  it('is released when it speaks of an older term', async () => {
    const sim = await start({ models: models({ large: { replicas: 0 } }) });
    const guest = new SimPeer(sim, 'guest', [sim.subjects.replica('large', 'fake')]);
    const intake = guest.bus.subscribe(sim.subjects.model('large'), () => {}, { queue: 'replicas' });
    sim.client.submit('req-1', prompt, sim.init(3, { maxTokens: 400 }));
    await sim.clock.runFor(10);
    intake.unsubscribe(); // nobody answers any more: the home goes on alone
    const home = replica(sim, 1);
    await sim.clock.runUntil(() => home.subserver.counters.get('handoffs_local') > 0, 10_000);
    const address = { rid: 'req-1', term: 0, hop: 1, from: 2, fromReplica: 'fake' };
    const origins = { models: [2], signals: [0] };
    guest.say(sim.subjects.replica('small', 'r0'), {
      kind: 'progress',
      ...address,
      suffix: [999],
      loc: 40,
      origins,
    });
    await sim.clock.runFor(1);
    expect(guest.of('release')).toEqual([{ kind: 'release', rid: 'req-1', term: 0 }]);
  });

  it('does not keep its state for ever when the prefix it asked for never comes', async () => {
    const sim = await start({ models: models({ large: { options: { guestIdleMs: 500 } } }) });
    const home = new SimPeer(sim, 'fake-home', [sim.subjects.replica('small', 'fake')]);
    const subject = sim.subjects.replica('large', 'r0');
    home.say(subject, handoffToGuest(sim));
    await sim.clock.runFor(2);
    const { init, ...later } = handoffToGuest(sim, { term: 1, hop: 7, suffix: [1], loc: 30 });
    expect(init).toBeDefined();
    home.say(subject, later);
    await sim.clock.runFor(5);
    expect(home.of('needs-prefix')).toMatchObject([{ term: 1, hop: 7 }]);
    expect(replica(sim, 2).subserver.numLive).toBe(1);
    await sim.clock.runFor(2000);
    expect(replica(sim, 2).subserver.numLive).toBe(0);
    expect(sim.numSequencesHeld).toBe(0);
  });

  it.each([true, false])('keeps parked state while its home announces itself: %s', async (isAnnounced) => {
    const sim = await start();
    const home = new SimPeer(sim, 'fake-home', [sim.subjects.replica('small', 'fake')]);
    home.say(sim.subjects.replica('large', 'r0'), handoffToGuest(sim));
    await sim.clock.runUntil(() => home.of('peer-req').length > 0, 1000);
    const guest = replica(sim, 2).subserver;
    for (let second = 1; second <= 10; second += 1) {
      if (isAnnounced)
        home.say(sim.subjects.beacon('small'), {
          kind: 'beacon',
          model: 1,
          replica: 'fake',
          rowsRunning: 0,
          stepLeftMs: 0,
          waiting: 1,
          aliveAtHome: 1,
          isDeciding: false,
        });
      await sim.clock.runFor(1000);
      if (second <= 5) expect(guest.numLive).toBe(1); // a short outage is none
    }
    expect(guest.numLive).toBe(isAnnounced ? 1 : 0);
    expect(sim.numSequencesHeld).toBe(isAnnounced ? 1 : 0);
  });

  it('takes the repeat of a newer term whatever hop the older one had reached', async () => {
    const sim = await start();
    const home = new SimPeer(sim, 'fake-home', [sim.subjects.replica('small', 'fake')]);
    const subject = sim.subjects.replica('large', 'r0');
    home.say(subject, handoffToGuest(sim, { hop: 9 }));
    await sim.clock.runFor(2);
    const { init, ...short } = handoffToGuest(sim, { term: 1, hop: 4, suffix: [1], loc: 30 });
    home.say(subject, short);
    await sim.clock.runFor(2);
    expect(home.of('needs-prefix')).toHaveLength(1);
    const whole = [...prompt, ...Array.from({ length: 27 }, () => 1)];
    home.say(subject, { ...short, ...(init ? { init } : {}), suffix: whole, loc: 30 });
    await sim.clock.runFor(30);
    const answers = [...home.of('progress'), ...home.of('peer-req')].filter(({ term }) => term === 1);
    expect(answers.map(({ loc }) => loc)).toContain(31);
  });
});

describe('what a peer says is checked before the engine sees it', () => {
  it('token ids outside the vocabulary', async () => {
    const sim = await start();
    const home = new SimPeer(sim, 'fake-home', [sim.subjects.replica('small', 'fake')]);
    const subject = sim.subjects.replica('large', 'r0');
    home.say(subject, handoffToGuest(sim));
    await sim.clock.runUntil(() => home.of('peer-req').length > 0, 1000);
    const back = home.of('peer-req')[0] as PeerReq;
    const { init, ...next } = handoffToGuest(sim, { hop: back.hop + 1, suffix: [5000], loc: back.loc + 1 });
    expect(init).toBeDefined();
    home.say(subject, next);
    await sim.clock.runFor(20);
    expect(home.of('reject')).toMatchObject([{ code: 'protocol_violation' }]);
    expect(replica(sim, 2).subserver.numLive).toBe(0);
  });

  it('models that do not exist; the rest of the frame is heard', async () => {
    const sim = await start();
    const stream = sim.client.submit('req-1', prompt, sim.init(3, { maxTokens: 500 }));
    await sim.clock.runFor(5);
    const peer = new SimPeer(sim, 'stranger', []);
    const origins = { models: [], signals: [] };
    peer.say(
      sim.subjects.replica('small', 'r0'),
      {
        kind: 'progress',
        rid: 'req-9',
        term: 0,
        hop: 1,
        from: 60,
        fromReplica: 'x',
        suffix: [],
        loc: 3,
        origins,
      },
      { kind: 'abort', rid: 'req-1', term: 0, reason: 'abort' },
    );
    peer.say(
      sim.subjects.replica('large', 'r0'),
      handoffToGuest(sim, { rid: 'req-2', home: { model: 60, replica: 'x' } }),
    );
    await sim.clock.runFor(2);
    expect(stream.finish?.reason).toBe('abort');
    expect(replica(sim, 2).subserver.counters.get('dropped_messages')).toBe(1);
  });
});

describe('a request that moves to another home', () => {
  it('is counted by the tokens this home knows the writers of, and its Finish reaches the client', async () => {
    const sim = await start();
    const gateway = new SimPeer(sim, 'gateway', [sim.subjects.gateway('other')]);
    const admit = {
      kind: 'admit',
      rid: 'req-1',
      term: 1,
      tokens: [...prompt, 8, 9],
      gateway: 'other',
    } as const;
    gateway.say(sim.subjects.model('small'), { ...admit, init: sim.init(3, { maxTokens: 10 }) });
    await sim.clock.runUntil(() => gateway.of('finish').length > 0, 10_000);
    const { usage, reason } = gateway.of('finish')[0] ?? {};
    expect([reason, usage?.completionTokens]).toEqual(['length', 10]);
    expect(usage?.tokensByModel.reduce((sum, [, tokens]) => sum + tokens, 0)).toBe(8);
  });

  it('ends at once when it was complete already', async () => {
    const sim = await start();
    const gateway = new SimPeer(sim, 'gateway', [sim.subjects.gateway('other')]);
    const admit = { kind: 'admit', term: 1, tokens: [...prompt, 8, 0], gateway: 'other' } as const;
    gateway.say(sim.subjects.model('small'), { ...admit, rid: 'req-1', init: sim.init(3, { maxTokens: 9 }) });
    gateway.say(sim.subjects.model('small'), {
      ...admit,
      rid: 'req-2',
      init: sim.init(4, { maxTokens: 1, limits: { maxTokens: 1, stopIds: [] } }),
    });
    await sim.clock.runFor(5);
    expect(gateway.of('finish').map(({ rid, reason }) => [rid, reason])).toEqual([
      ['req-1', 'eos'],
      ['req-2', 'length'],
    ]);
    expect(gateway.of('tokens')).toEqual([]);
  });
});

describe('two homes that took the same request', () => {
  it('do not meet in one guest: both write the whole answer, also when one of them is aborted', async () => {
    const expected = await undisturbed(60);
    for (const abortAtMs of [undefined, 12, 30, 55]) {
      const sim = await start({ models: models({ small: { replicas: 2 } }) });
      const gateways = ['r0', 'r1'].map((name) => {
        const gateway = new SimPeer(sim, `gateway-${name}`, [sim.subjects.gateway(name)]);
        const admit = { kind: 'admit', rid: 'req-1', term: 0, tokens: prompt, gateway: name } as const;
        gateway.say(sim.subjects.replica('small', name), { ...admit, init: sim.init(3, { maxTokens: 60 }) });
        return gateway;
      });
      if (abortAtMs !== undefined) {
        await sim.clock.runFor(abortAtMs);
        const abort = { kind: 'abort', rid: 'req-1', term: 0, reason: 'abort' } as const;
        gateways[0]?.say(sim.subjects.replica('small', 'r0'), abort);
      }
      // Far below the time after which a home gives up a guest that does not answer.
      await sim.clock.runUntil(() => gateways.every((gateway) => gateway.of('finish').length > 0), 1200);
      for (const [index, gateway] of gateways.entries()) {
        const ids = gateway.of('tokens').flatMap((message) => message.ids);
        const isAborted = index === 0 && abortAtMs !== undefined;
        expect(ids).toEqual(isAborted ? expected.slice(0, ids.length) : expected);
      }
      await sim.clock.runFor(50);
      expect(sim.numSequencesHeld).toBe(0);
    }
  });
});

describe('three models', () => {
  const drawn = {
    routers: [{ id: 'drawn', use: 'drawn', options: {} }],
    factories: { drawn: drawnDestinations },
  };
  const three = (third: object) => [
    ...models(),
    { name: 'third', model: pair.small, stepMs: () => 4, options: { resendMs: 40 }, ...third },
  ];
  const finish = async (sim: SimDeployment): Promise<void> => {
    for (let seed = 0; seed < 6; seed += 1) {
      sim.client.submit(`req-${seed}`, prompt, sim.init(3, { maxTokens: 30, sampling: { ...greedy, seed } }));
    }
    // No repeat is needed for any of this: a hang would take seconds.
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 1500);
    for (const { finish } of sim.client.streams.values()) expect(finish?.error).toBeUndefined();
    await sim.clock.runFor(100);
    expect(sim.numSequencesHeld).toBe(0);
  };

  it('guests hand to guests, each learning of the other', async () => {
    const sim = await start({ models: three({}), ...drawn });
    await finish(sim);
    const numLost = sim.replicas.map(({ subserver }) => subserver.counters.get('handoffs_local'));
    expect(numLost).toEqual([0, 0, 0]);
    expect(replica(sim, 3).subserver.counters.get('handoffs_received')).toBeGreaterThan(10);
  });

  it('a guest whose next guest does not exist or refuses gives the request back', async () => {
    for (const third of [{ replicas: 0 }, { info: { maxModelLenTokens: 8 } }]) {
      const sim = await start({ models: three(third), ...drawn });
      await finish(sim);
      expect(replica(sim, 2).subserver.counters.get('handoffs_local')).toBeGreaterThan(0);
    }
  });

  it('a guest whose next guest died gives the request back, and another replica of that model writes on', async () => {
    const whole = await start({ models: three({ replicas: 2 }), ...drawn });
    await finish(whole);
    for (const atMs of [20, 30, 40, 50]) {
      const sim = await start({ models: three({ replicas: 2 }), ...drawn });
      const lost = sim.replicas.findIndex(({ model }) => model === 3);
      // What it held is gone with it; all others must hold nothing in the end.
      sim.clock.setTimer(atMs, () => void sim.replicas.splice(lost, 1)[0]?.bus.close());
      await finish(sim);
      expect(replica(sim, 2).subserver.counters.get('handoffs_local')).toBeGreaterThan(0);
      expect(replica(sim, 1).subserver.counters.get('handoffs_local')).toBe(0);
      for (const [rid, { ids, models: writers }] of whole.client.streams) {
        const stream = sim.client.streams.get(rid);
        expect([rid, stream?.ids, stream?.models]).toEqual([rid, ids, writers]);
      }
    }
  });
});
