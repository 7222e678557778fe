import { afterEach, describe, expect, it } from 'vitest';
import { serve, until, EOS, type Served } from './setup.ts';

let served: Served | undefined;
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

describe('a burst', () => {
  it('is taken up to exactly the bound; the rest is refused at once', async () => {
    served = await serve({
      gateway: { maxInflight: 4, maxQueue: 8, retryAfterSeconds: 3 },
      home: { auto: false },
    });
    const { home } = served;
    const outcomes: number[] = [];
    const accepted: Promise<unknown>[] = [];
    for (let i = 0; i < 12; i += 1)
      accepted.push(served.chat({}).then(async (r) => outcomes.push((await r.text(), r.status))));
    await until(async () => (await metric('gateway_requests_queued')) === 8);
    const refused = await Promise.all(
      Array.from({ length: 200 }, () => (served as Served).chat({ stream: true })),
    );
    for (const response of refused) {
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '3']);
      expect(((await response.json()) as { error: { code: string; type: string } }).error).toMatchObject({
        code: 'overloaded',
        type: 'rate_limit_error',
      });
    }
    expect(home.admits).toHaveLength(4);
    // As places are freed, the queued move up, never more than four at a time.
    for (let done = 0; done < 12; done += 1) {
      await until(() => home.sessions.size > done);
      home.session(done).tokens([EOS]);
      home.session(done).finish('eos');
      expect([...home.sessions.values()].filter(({ ended }) => !ended).length).toBeLessThanOrEqual(4);
    }
    await Promise.all(accepted);
    expect(outcomes).toEqual(Array(12).fill(200));
    expect([await metric('gateway_requests_running'), await metric('gateway_requests_queued')]).toEqual([
      0, 0,
    ]);
  });

  it('whose clients give up and come again leaves nothing behind', async () => {
    served = await serve({ gateway: { maxInflight: 2, maxQueue: 4 }, home: { auto: false } });
    for (let round = 0; round < 5; round += 1) {
      const controller = new AbortController();
      const attempts = Array.from({ length: 20 }, () =>
        (served as Served).chat({}, { signal: controller.signal }).then(
          (r) => r.status,
          () => 0,
        ),
      );
      await until(async () => (await metric('gateway_requests_queued')) === 4);
      controller.abort();
      await Promise.all(attempts);
      await until(async () => (await metric('gateway_requests_running')) === 0);
      expect(await metric('gateway_requests_queued')).toBe(0);
    }
  });

  it('at a home that is full is tried twice more, then 429', async () => {
    served = await serve();
    served.home.onAdmit = (session) =>
      session.reject({ code: 'overloaded', message: 'no room', retryable: true });
    const response = await served.chat({});
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
    expect(served.home.admits).toHaveLength(3);
    served.home.onAdmit = undefined;
    expect((await served.chat({})).status).toBe(200);
  });
});

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${(served as Served).url}/metrics`)).text();
  return Number(new RegExp(`^tokenrail_${name} (\\d+)$`, 'm').exec(text)?.[1]);
}
