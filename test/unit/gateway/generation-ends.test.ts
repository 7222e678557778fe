import { describe, expect, it } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { ScriptedHome } from '../../helpers/scripted-home.ts';
import { admittedBench, bytesOf, EOS, makeBench } from './generation-setup.ts';
import { deployment } from '../../helpers/gateway-deployment.ts';

describe('stop strings', () => {
  it('end the text exactly, tell the home how much to keep, and count no further', async () => {
    const { seen, session, settle, home } = await admittedBench({ stop: ['DEFGHIJ'] });
    const pieces = ['ABC ', 'DEF', 'G', 'HI', 'JKL'];
    for (const piece of pieces) session.tokens(bytesOf(piece));
    await settle();
    expect(seen.text()).toBe('ABC ');
    expect(home.aborts).toMatchObject([{ reason: 'stop', at: 11 }]);
    expect(seen.ends).toMatchObject([
      { kind: 'finished', finishReason: 'stop', stopString: 'DEFGHIJ', usage: { completionTokens: 11 } },
    ]);
    expect(seen.deltas.flatMap(({ ids }) => ids)).toEqual(bytesOf('ABC DEFGHIJ'));
  });

  it('are not waited for without end when the home does not confirm', async () => {
    const { seen, session, settle, home, clock } = await admittedBench({ stop: ['b'] });
    home.stop();
    session.ids.push(...bytesOf('ab'));
    await settle();
    const other = new ScriptedHome(home['bus'], { deployment, auto: false });
    other.send(other.subjects.gateway('gw'), {
      kind: 'tokens',
      rid: 'req-abc',
      term: 0,
      position: 0,
      ids: bytesOf('ab'),
      origins: { models: [1, 2], signals: [0, 0] },
    });
    await settle();
    expect(seen.ends).toEqual([]);
    clock.advance(200);
    expect(seen.ends).toMatchObject([{ kind: 'finished', usage: { completionTokens: 2, handoffs: 1 } }]);
  });

  it('that never complete release what was held', async () => {
    const { seen, session, settle } = await admittedBench({ stop: ['DEFGHIJ'] });
    session.tokens([...bytesOf('ABC DEFGH'), EOS]);
    session.finish('eos');
    await settle();
    expect(seen.text()).toBe('ABC DEFGH');
  });
});

describe('cancelling', () => {
  it('tells the home and ends once, whatever comes afterwards', async () => {
    const { generation, seen, session, settle, home, clock } = await admittedBench();
    session.tokens(bytesOf('a'));
    await settle();
    generation.cancel('abort', new TokenrailError('cancelled', 'gone'));
    generation.cancel('abort', new TokenrailError('cancelled', 'gone'));
    await settle();
    session.tokens(bytesOf('b'));
    await settle();
    expect(home.aborts).toMatchObject([{ rid: 'req-abc', reason: 'abort' }]);
    expect(seen.ends).toHaveLength(1);
    expect(seen.text()).toBe('a');
    expect(clock.numPending).toBe(0);
  });

  it('reaches a home that accepts only afterwards', async () => {
    const bench = await makeBench();
    bench.home.onAdmit = () => {};
    const { generation } = bench.start();
    await bench.settle();
    generation.cancel('abort', new TokenrailError('cancelled', 'gone'));
    await bench.settle();
    expect(bench.home.aborts).toEqual([]);
    bench.session().admitted();
    await bench.settle();
    expect(bench.home.aborts).toMatchObject([{ reason: 'abort' }]);
  });

  it('happens by itself at the deadline', async () => {
    const { seen, settle, home, clock, session } = await admittedBench({ deadlineMs: 300 });
    session.tokens(bytesOf('a'));
    await settle();
    clock.advance(300);
    await settle();
    expect(home.aborts).toMatchObject([{ reason: 'deadline' }]);
    expect(seen.ends).toMatchObject([{ kind: 'failed', error: { code: 'deadline_exceeded' } }]);
  });

  it('happens at the deadline although its turn has not come, and then it never starts', async () => {
    const { start, clock, settle, home } = await makeBench();
    const { generation, seen } = start({ deadlineMs: 300, waits: true });
    clock.advance(300);
    expect(seen.ends).toMatchObject([{ kind: 'failed', error: { code: 'deadline_exceeded' } }]);
    generation.start();
    await settle();
    expect(home.admits).toEqual([]);
    expect(clock.numPending).toBe(0);
  });

  it('is what "nobody listens" at the client means', async () => {
    const { seen, settle, home, link, gatewayBus } = await admittedBench();
    gatewayBus.publish('client.that.left', new Uint8Array(1), { reply: link.clientInbox('req-abc') });
    await settle();
    expect(home.aborts).toMatchObject([{ reason: 'abort' }]);
    expect(seen.ends).toMatchObject([{ kind: 'failed', error: { code: 'cancelled' } }]);
  });
});

describe('a prompt over the payload limit', () => {
  it('is refused by size, and the next request works', async () => {
    const bench = await makeBench();
    bench.broker.maxPayloadBytes = 32;
    const { seen } = bench.start();
    expect(seen.ends).toMatchObject([{ kind: 'failed', error: { code: 'payload_too_large' } }]);
    bench.broker.maxPayloadBytes = 1_048_576;
    const next = bench.start({ rid: 'req-next' });
    await bench.settle();
    expect(next.seen.admitted).toBe(1);
  });
});
