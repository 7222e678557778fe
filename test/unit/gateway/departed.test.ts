import { describe, expect, it } from 'vitest';
import { Departed } from '../../../actors/gateway/departed.ts';
import type { Abort, Finish, Tokens } from '../../../transport/messages.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const abort: Abort = { kind: 'abort', rid: 'req-a', term: 0, reason: 'abort' };
const tokens: Tokens = {
  kind: 'tokens',
  rid: 'req-a',
  term: 0,
  position: 0,
  ids: [1],
  origins: { models: [1], signals: [0] },
};
const finish: Finish = {
  kind: 'finish',
  rid: 'req-a',
  term: 0,
  reason: 'abort',
  usage: { promptTokens: 1, completionTokens: 0, tokensByModel: [], handoffs: 0 },
};

function makeDeparted(): { departed: Departed; clock: ManualClock; sent: [string, Abort][] } {
  const clock = new ManualClock();
  const sent: [string, Abort][] = [];
  return { departed: new Departed(clock, (replica, message) => sent.push([replica, message])), clock, sent };
}

describe('Departed', () => {
  it('tells a home again that goes on as if nothing had happened, but not for each token', () => {
    const { departed, clock, sent } = makeDeparted();
    departed.add('req-a', 'r1', abort);
    departed.onMessage(tokens);
    expect(sent).toEqual([]); // on its way when the Abort was sent
    clock.advance(300);
    departed.onMessage(tokens);
    departed.onMessage(tokens);
    expect(sent).toEqual([['r1', abort]]);
    departed.onMessage(finish);
    clock.advance(300);
    departed.onMessage(tokens);
    expect(sent).toHaveLength(1);
  });

  it('tells a home that accepts after the end, and a second one that a repeated Admit woke', () => {
    const { departed, sent } = makeDeparted();
    departed.add('req-a', undefined, abort);
    departed.onMessage({ kind: 'admitted', rid: 'req-a', term: 0, model: 1, replica: 'r1' });
    expect(sent).toEqual([['r1', abort]]);
    departed.add('req-b', 'r1', undefined);
    departed.onMessage({ kind: 'admitted', rid: 'req-b', term: 0, model: 1, replica: 'r1' });
    departed.onMessage({ kind: 'admitted', rid: 'req-b', term: 0, model: 1, replica: 'r2' });
    expect(sent.slice(1)).toEqual([['r2', { ...abort, rid: 'req-b' }]]);
  });

  it('remembers a bounded number of requests', () => {
    const { departed } = makeDeparted();
    for (let i = 0; i < 5_000; i += 1) departed.add(`req-${i}`, 'r1', undefined);
    expect(departed.onMessage({ ...finish, rid: 'req-0' })).toBe(false);
    expect(departed.onMessage({ ...finish, rid: 'req-4999' })).toBe(true);
  });
});
