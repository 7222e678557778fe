import { describe, expect, it } from 'vitest';
import { Outbox } from '../../../actors/subserver/outbox.ts';
import { silentLogger } from '../../../core/log.ts';
import { SimulatedNetwork, VirtualClock } from '../../../simulation/index.ts';
import { decodeFrame } from '../../../transport/codec.ts';
import type { Message, Tokens } from '../../../transport/messages.ts';

const release = (rid: string): Message => ({ kind: 'release', rid, term: 0 });
const tokens = (rid: string, count: number): Tokens => ({
  kind: 'tokens',
  rid,
  term: 0,
  position: 0,
  ids: Array.from({ length: count }, (_, i) => i),
  origins: {
    models: Array.from({ length: count }, () => 1),
    signals: Array.from({ length: count }, () => 0.5),
  },
});

interface Frame {
  subject: string;
  reply: string | undefined;
  rids: string[];
}

function setUp(maxPayloadBytes = 1_000_000): {
  outbox: Outbox;
  frames: () => Promise<Frame[]>;
  tooLarge: string[];
  close: () => Promise<void>;
} {
  const clock = new VirtualClock();
  const network = new SimulatedNetwork(clock, { hopMs: 0, maxPayloadBytes });
  const bus = network.connect('sender');
  const frames: Frame[] = [];
  network.connect('receiver').subscribe('to.>', ({ subject, reply, payload }) => {
    const rids = decodeFrame(payload).messages.map((message) => ('rid' in message ? message.rid : ''));
    frames.push({ subject, reply, rids });
  });
  const tooLarge: string[] = [];
  const outbox: Outbox = new Outbox(bus, silentLogger, (message) => {
    const rid = 'rid' in message ? message.rid : '';
    tooLarge.push(rid);
    outbox.post('to.other', release(`${rid}-end`));
  });
  const deliver = async (): Promise<Frame[]> => {
    await clock.runFor(1);
    return frames;
  };
  return { outbox, frames: deliver, tooLarge, close: () => bus.close() };
}

describe('the outbox', () => {
  it('sends one frame per destination and reply subject, in the order of posting', async () => {
    const { outbox, frames } = setUp();
    outbox.post('to.a', release('req-1'));
    outbox.post('to.b', release('req-2'), 'inbox.x');
    outbox.post('to.a', release('req-3'));
    outbox.post('to.b', release('req-4'), 'inbox.y');
    outbox.flush();
    outbox.flush();
    expect(await frames()).toEqual([
      { subject: 'to.a', reply: undefined, rids: ['req-1', 'req-3'] },
      { subject: 'to.b', reply: 'inbox.x', rids: ['req-2'] },
      { subject: 'to.b', reply: 'inbox.y', rids: ['req-4'] },
    ]);
  });

  it('keeps what nobody waits for, until all is flushed or something urgent follows to the same subject', async () => {
    const { outbox, frames } = setUp();
    outbox.postDeferrable('to.gateway', tokens('req-1', 1));
    outbox.post('to.large', release('req-2'));
    outbox.flushUrgent();
    expect((await frames()).map(({ rids }) => rids)).toEqual([['req-2']]);
    outbox.postDeferrable('to.gateway', tokens('req-3', 1));
    outbox.flushUrgent();
    expect(await frames()).toHaveLength(1);
    outbox.post('to.gateway', release('req-1'));
    outbox.flushUrgent();
    expect((await frames()).slice(1).map(({ rids }) => rids)).toEqual([['req-1', 'req-3', 'req-1']]);
    outbox.postDeferrable('to.gateway', tokens('req-4', 1));
    outbox.flush();
    expect((await frames()).slice(2).map(({ rids }) => rids)).toEqual([['req-4']]);
  });

  it('splits what exceeds the payload; what is too large alone is told, and what that leads to goes out too', async () => {
    const { outbox, frames, tooLarge } = setUp(1500);
    const sizes = [60, 60, 1000, 60];
    sizes.forEach((count, i) => outbox.post('to.a', tokens(`req-${i}`, count)));
    outbox.flush();
    const sent = await frames();
    expect(tooLarge).toEqual(['req-2']);
    expect(sent.filter(({ subject }) => subject === 'to.a').flatMap(({ rids }) => rids)).toEqual([
      'req-0',
      'req-1',
      'req-3',
    ]);
    expect(sent.filter(({ subject }) => subject === 'to.a').length).toBeGreaterThan(1);
    expect(sent.filter(({ subject }) => subject === 'to.other').flatMap(({ rids }) => rids)).toEqual([
      'req-2-end',
    ]);
  });

  it('neither throws nor keeps anything when the bus is closed', async () => {
    const { outbox, close, frames } = setUp();
    await close();
    expect(outbox.isConnected).toBe(false);
    outbox.post('to.a', release('req-1'));
    expect(() => outbox.flush()).not.toThrow();
    expect(await frames()).toEqual([]);
  });
});
