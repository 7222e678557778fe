import { describe, expect, it } from 'vitest';
import { ScriptedHome } from '../../helpers/scripted-home.ts';
import { admittedBench, bytesOf, EOS, makeBench } from './generation-setup.ts';
import { deployment } from '../../helpers/gateway-deployment.ts';

describe('a request from Admit to Finish', () => {
  it('sends what a home needs, streams text and counts what arrived', async () => {
    const { home, seen, session, settle, clock } = await admittedBench({ deadlineMs: 5_000 });
    expect(home.admits).toEqual([
      {
        kind: 'admit',
        rid: 'req-abc',
        term: 0,
        tokens: [1, 2, 3],
        gateway: 'gw',
        deadlineMs: 5_000,
        init: {
          promptLen: 3,
          router: 'r-stitch',
          configHash: 'hash',
          sampling: { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 7 },
          limits: { maxTokens: 100, stopIds: [EOS] },
        },
      },
    ]);
    expect(seen.admitted).toBe(1);
    home.writer = (index) => (index === 1 ? 2 : 1);
    session.tokens(bytesOf('Hi'));
    session.tokens([...bytesOf('!'), EOS]);
    session.finish('eos', undefined, 2);
    await settle();
    expect(seen.text()).toBe('Hi!');
    expect(seen.ends).toEqual([
      {
        kind: 'finished',
        finishReason: 'stop',
        stopString: undefined,
        usage: {
          promptTokens: 3,
          completionTokens: 4,
          tokensByModel: { small: 3, large: 1 },
          handoffs: 2,
          llmRatio: 0.25,
        },
      },
    ]);
    expect(clock.numPending).toBe(0);
  });

  it('tells the truth about the reason', async () => {
    const { seen, session, settle } = await admittedBench({ maxTokens: 2 });
    session.tokens(bytesOf('ab'));
    session.finish('length');
    await settle();
    expect(seen.ends).toMatchObject([{ kind: 'finished', finishReason: 'length' }]);
  });

  it('never shows an end token, printable or not, but counts it', async () => {
    const bench = await makeBench();
    const { seen } = bench.start();
    await bench.settle();
    bench.session().tokens([65, EOS]);
    bench.session().finish('eos');
    await bench.settle();
    expect(seen.text()).toBe('A');
    expect(seen.deltas[0]).toMatchObject({ ids: [65, EOS], texts: ['A', ''] });
  });

  it('passes an error of the home on with its code', async () => {
    const { seen, session, settle } = await admittedBench();
    session.tokens(bytesOf('a'));
    session.finish('error', { code: 'router_failed', message: 'router r2 threw' });
    await settle();
    expect(seen.ends).toMatchObject([
      { kind: 'failed', error: { code: 'router_failed', message: 'router r2 threw' } },
    ]);
  });
});

describe('messages that come doubled, late, early or not at all', () => {
  it('takes tokens that run ahead of the Admitted', async () => {
    const bench = await makeBench();
    bench.home.onAdmit = (session) => {
      session.tokens(bytesOf('ab'));
      session.admitted();
    };
    const { seen } = bench.start();
    await bench.settle();
    expect([seen.text(), seen.admitted]).toEqual(['ab', 1]);
  });

  it('shows doubled tokens once and fills gaps from the home', async () => {
    const { seen, session, settle, home, dropped } = await admittedBench();
    session.tokens(bytesOf('ab'));
    session.sendTokens(0, bytesOf('ab'));
    session.ids.push(...bytesOf('cd')); // lost on the way
    session.tokens(bytesOf('ef'));
    session.sendTokens(5, bytesOf('f')); // a second message beyond the gap asks no second time
    await settle();
    expect(seen.text()).toBe('abcdef');
    expect(home.asks).toMatchObject([{ kind: 'needs-prefix', from: 0, fromReplica: 'gw', have: 2 }]);
    expect(dropped).toMatchObject({ duplicate: 1, gap: 2 });
  });

  it('puts messages that overtook each other in order', async () => {
    const { seen, session, settle } = await admittedBench();
    session.ids.push(...bytesOf('abcd'), EOS);
    session.sendTokens(2, bytesOf('cd'));
    session.finish('eos');
    session.sendTokens(0, bytesOf('ab'));
    await settle();
    expect(seen.text()).toBe('abcd');
    expect(seen.ends).toHaveLength(1);
    expect(seen.ends[0]).toMatchObject({ kind: 'finished', usage: { completionTokens: 5 } });
  });

  it('waits for the tokens that a Finish counts, and gives up when they never come', async () => {
    const { seen, session, settle, home, clock } = await admittedBench();
    home.onAsk = () => session.finish('eos');
    session.ids.push(...bytesOf('abc'));
    session.finish('eos');
    await settle();
    expect(seen.ends).toEqual([]);
    for (let i = 0; i < 5; i += 1) {
      clock.advance(500);
      await settle();
    }
    expect(home.asks.length).toBeLessThanOrEqual(5);
    expect(seen.ends).toMatchObject([{ kind: 'failed', error: { code: 'model_unavailable' } }]);
  });

  it('drops what has another term, and what belongs to nobody', async () => {
    const { seen, session, settle, dropped, home } = await admittedBench();
    session.sendTokens(0, bytesOf('zz'), 1);
    home.send(home.subjects.gateway('gw'), { kind: 'release', rid: 'req-nobody', term: 0 });
    await settle();
    expect(seen.text()).toBe('');
    expect(dropped).toMatchObject({ stale_term: 1, unknown_request: 1 });
  });

  it('keeps the first home and sends a second one away, whose Finish it ignores', async () => {
    const bench = await makeBench();
    bench.home.onAdmit = () => {};
    const second = new ScriptedHome(bench.broker.connect(), { deployment, replica: 'r2', auto: false });
    await second.start();
    const { seen } = bench.start();
    await bench.settle();
    bench.clock.advance(1_000); // the Admit goes out again and reaches the other replica
    await bench.settle();
    expect([bench.home.admits.length, second.admits.length]).toEqual([1, 1]);
    bench.session().admitted();
    await bench.settle();
    const [winner, loser] = [second, bench.home];
    expect(loser.aborts).toMatchObject([{ rid: 'req-abc', reason: 'abort' }]);
    winner.session().tokens([65, EOS]);
    winner.session().finish('eos');
    await bench.settle();
    expect(seen.ends).toMatchObject([{ kind: 'finished', usage: { completionTokens: 2 } }]);
  });

  it('survives a text layer that throws: only this request ends', async () => {
    const { generation, seen, session, settle } = await admittedBench();
    generation.onFault(new Error('boom'));
    session.tokens(bytesOf('a'));
    await settle();
    expect(seen.ends).toMatchObject([{ kind: 'failed', error: { code: 'internal' } }]);
  });
});

describe('a home that falls silent', () => {
  it('is probed and, while it answers, waited for', async () => {
    const { seen, settle, home, clock } = await admittedBench();
    for (let i = 0; i < 20; i += 1) {
      clock.advance(500);
      await settle();
    }
    expect(home.asks.length).toBeGreaterThanOrEqual(9);
    expect(seen.ends).toEqual([]);
  });

  it('costs the request when three probes stay unanswered', async () => {
    const { seen, settle, home, clock } = await admittedBench();
    home.onAsk = () => {};
    for (let i = 0; i < 4; i += 1) {
      clock.advance(500);
      await settle();
    }
    expect(home.asks).toHaveLength(3);
    expect(seen.ends).toMatchObject([{ kind: 'failed', error: { code: 'model_unavailable' } }]);
  });

  it('is noticed with the first probe when it is gone', async () => {
    const { seen, settle, home, clock } = await admittedBench();
    home.stop();
    clock.advance(500);
    await settle();
    expect(seen.ends).toMatchObject([{ kind: 'failed', error: { code: 'model_unavailable' } }]);
  });

  it('is not there at all: 503 of the broker, at once', async () => {
    const bench = await makeBench();
    bench.home.stop();
    const { seen } = bench.start();
    await bench.settle();
    expect(seen.ends).toMatchObject([{ kind: 'failed', error: { code: 'model_unavailable' } }]);
    expect(bench.clock.numPending).toBe(0);
  });
});
