import { describe, expect, it } from 'vitest';
import { LiveRequest } from '../../../actors/subserver/live-request.ts';
import { guestRequest, homeRequest } from '../../helpers/live-requests.ts';

describe('a request at a subserver', () => {
  it('takes the origins that the first contact brings, and keeps them aligned with the tokens', () => {
    const { init, home } = guestRequest('req-1', 1, 'r0');
    const origins = { models: [0, 0, 0, 0, 1, 2], signals: [NaN, NaN, NaN, NaN, 0.1, 0.2] };
    const tokens = [1, 2, 3, 4, 50, 60];
    const request = new LiveRequest({
      rid: 'req-1',
      seq: 1,
      role: 'guest',
      init,
      home,
      tokens,
      term: 0,
      hop: 1,
      origins,
    });
    expect(request.originsOf(4)).toEqual({ models: [1, 2], signals: [0.1, 0.2] });
    request.truncate(0); // the whole sequence comes again, prompt included
    tokens.forEach((token, i) => request.append(token, origins.models[i] ?? 0, origins.signals[i] ?? NaN));
    expect(request.originsOf(3)).toEqual({ models: [0, 1, 2], signals: [NaN, 0.1, 0.2] });
    expect(request.tokensByModel()).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  it('counts no token whose writer it does not know', () => {
    const { init, home } = guestRequest('req-1', 1, 'r0');
    const tokens = [1, 2, 3, 4, 50];
    const request = new LiveRequest({
      rid: 'req-1',
      seq: 1,
      role: 'guest',
      init,
      home,
      tokens,
      term: 0,
      hop: 1,
    });
    request.append(60, 2, 0);
    expect(request.tokensByModel()).toEqual([[2, 1]]);
  });

  it('forgets with its tokens what peers were known to hold beyond: they may hold others there by now', () => {
    const request = homeRequest('req-1', 1);
    for (let i = 0; i < 6; i += 1) request.append(20 + i, 1, 0);
    request.kvLen = 10;
    request.peerLocs.set(2, 9);
    request.peerLocs.set(3, 5);
    request.truncate(7);
    expect([request.tokens.length, request.kvLen]).toEqual([7, 7]);
    expect([...request.peerLocs]).toEqual([
      [2, 7],
      [3, 5],
    ]);
    request.truncate(50);
    expect(request.tokens.length).toBe(7);
    request.truncate(0);
    expect(request.peerLocs.size).toBe(0); // 0 would read as "could not be reached"
  });

  it('knows its end: a stop id among the generated tokens, or the last one allowed', () => {
    const request = homeRequest('req-1', 1);
    expect(request.ended).toBeUndefined();
    expect(request.append(7, 1, 0)).toBeUndefined();
    expect(request.append(0, 1, 0)).toBe('eos');
    const long = homeRequest('req-2', 2);
    for (let i = 1; i < 100; i += 1) expect(long.append(7, 1, 0)).toBeUndefined();
    expect(long.append(7, 1, 0)).toBe('length');
  });
});
