import { describe, expect, test } from 'vitest';
import type { Clock, Timer } from '../../../core/clock.ts';
import { TokenrailError } from '../../../core/errors.ts';
import type { Bus, BusHandler, PublishOptions } from '../../../transport/bus.ts';
import { RequestInbox } from '../../../transport/request-inbox.ts';

/** A clock that fires timers when told to. */
class ManualClock implements Clock {
  readonly timers = new Set<() => void>();
  nowMs = (): number => 0;
  epochMs = (): number => 0;
  setTimer(_delayMs: number, callback: () => void): Timer {
    this.timers.add(callback);
    return { cancel: () => this.timers.delete(callback) };
  }
  afterInstant(callback: () => void): void {
    callback();
  }
  fireAll(): void {
    for (const callback of [...this.timers]) callback();
  }
}

class FakeBus implements Pick<Bus, 'publish' | 'subscribe'> {
  readonly published: { subject: string; reply: string }[] = [];
  readonly subscriptions: string[] = [];
  handler: BusHandler = () => {};
  failWith: Error | undefined;

  publish(subject: string, _payload: Uint8Array, options?: PublishOptions): void {
    if (this.failWith !== undefined) throw this.failWith;
    this.published.push({ subject, reply: options?.reply ?? '' });
  }
  subscribe(subject: string, handler: BusHandler): ReturnType<Bus['subscribe']> {
    this.subscriptions.push(subject);
    this.handler = handler;
    return { subject, unsubscribe: () => {}, drain: () => Promise.resolve() };
  }
  answer(index: number, isNoResponders = false): void {
    const subject = this.published[index]?.reply ?? '';
    this.handler({ subject, payload: new Uint8Array([index]), isNoResponders });
  }
}

function setUp(): { bus: FakeBus; clock: ManualClock; inbox: RequestInbox } {
  const bus = new FakeBus();
  const clock = new ManualClock();
  return { bus, clock, inbox: new RequestInbox(bus, 'in.box', clock) };
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    (error: unknown) => (error instanceof TokenrailError ? error.code : error),
  );

describe('RequestInbox', () => {
  test('one subscription serves all; answers find their requests in any order; no timer stays', async () => {
    const { bus, clock, inbox } = setUp();
    const answers = [0, 1, 2].map(() => inbox.request('s', new Uint8Array(0), 1000));
    for (const index of [2, 0, 1]) bus.answer(index);
    expect((await Promise.all(answers)).map(({ payload }) => payload[0])).toEqual([0, 1, 2]);
    expect(bus.subscriptions).toEqual(['in.box.*']);
    expect(new Set(bus.published.map(({ reply }) => reply)).size).toBe(3);
    expect(clock.timers.size).toBe(0);
  });

  test('a 503 is no_responders, a timeout is bus_timeout, late answers are ignored', async () => {
    const { bus, clock, inbox } = setUp();
    const refused = codeOf(inbox.request('s', new Uint8Array(0), 1000));
    bus.answer(0, true);
    const slow = codeOf(inbox.request('s', new Uint8Array(0), 1000));
    clock.fireAll();
    bus.answer(1);
    bus.answer(0);
    expect([await refused, await slow]).toEqual(['no_responders', 'bus_timeout']);
    expect(clock.timers.size).toBe(0);
  });

  test('failAll ends what is open', async () => {
    const { clock, inbox } = setUp();
    const codes = [
      codeOf(inbox.request('a', new Uint8Array(0), 9)),
      codeOf(inbox.request('b', new Uint8Array(0), 9)),
    ];
    inbox.failAll(new TokenrailError('bus_unavailable', 'gone'));
    expect(await Promise.all(codes)).toEqual(['bus_unavailable', 'bus_unavailable']);
    expect(clock.timers.size).toBe(0);
  });

  test('what publish throws rejects the request and leaves nothing behind', async () => {
    const { bus, clock, inbox } = setUp();
    bus.failWith = new TokenrailError('payload_over_bus_limit', 'too large');
    expect(await codeOf(inbox.request('s', new Uint8Array(0), 1000))).toBe('payload_over_bus_limit');
    expect(clock.timers.size).toBe(0);
  });
});
