import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TokenrailError, type ErrorCode } from '../../../core/errors.ts';
import { SystemClock } from '../../../core/system-clock.ts';
import type { Bus, BusStatus } from '../../../transport/bus.ts';
import { connectNats, type NatsOptions } from '../../../transport/nats.ts';
import {
  hasNatsServer,
  requiresNatsServer,
  startTestBroker,
  type TestBroker,
  type TestBrokerOptions,
} from '../../helpers/nats-server.ts';

export const clock = new SystemClock();

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const text = (payload: Uint8Array): string => new TextDecoder().decode(payload);

/** The code of the error that `act` throws or rejects with. */
export async function codeOf(act: () => unknown): Promise<ErrorCode | undefined> {
  try {
    await act();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(TokenrailError);
    return (thrown as TokenrailError).code;
  }
  return undefined;
}

/** Resolves at the next change to `status`. */
export function nextStatus(bus: Bus, status: BusStatus): Promise<void> {
  return new Promise((resolve) => {
    const stop = bus.onStatus((now) => {
      if (now !== status) return;
      stop();
      resolve();
    });
  });
}

/**
 * Everything published by `publisher` so far has been handled by `receiver` afterwards: the broker answers the
 * first PING when it has routed the messages, and the second one behind them on the receiver's connection.
 */
export async function settle(publisher: Bus, ...receivers: Bus[]): Promise<void> {
  await publisher.flush();
  for (const receiver of receivers) await receiver.flush();
}

export interface Fixture {
  broker: () => TestBroker;
  /** A further connection, closed after the test. */
  connect: (options?: Partial<NatsOptions>) => Promise<Bus>;
}

export type BrokerVariant = 'embedded' | 'embedded, in a thread' | 'nats-server';

const OPTIONS: Record<BrokerVariant, TestBrokerOptions> = {
  embedded: {},
  'embedded, in a thread': { inThread: true },
  'nats-server': {},
};

const isMissing = (variant: BrokerVariant): boolean => variant === 'nats-server' && !hasNatsServer();

/**
 * Runs the same tests on every broker. Where no nats-server exists its half is skipped with a notice, or
 * fails where TOKENRAIL_REQUIRE_NATS_SERVER=1 demands it.
 */
export function describeOnBrokers(
  name: string,
  variants: readonly BrokerVariant[],
  body: (fixture: Fixture, variant: BrokerVariant) => void,
): void {
  describe.each(variants)(`${name} (%s)`, (variant) => {
    if (isMissing(variant)) {
      if (!requiresNatsServer()) console.warn(`NOTICE: no nats-server on the PATH, "${name}" skips its half`);
      test.skipIf(!requiresNatsServer())('a nats-server is on the PATH', () => {
        expect(hasNatsServer(), 'TOKENRAIL_REQUIRE_NATS_SERVER=1 demands a nats-server on the PATH').toBe(
          true,
        );
      });
      return;
    }
    let broker: TestBroker | undefined;
    let buses: Bus[] = [];
    beforeAll(async () => {
      broker = await startTestBroker(
        variant === 'nats-server' ? 'nats-server' : 'embedded',
        OPTIONS[variant],
      );
    });
    afterEach(async () => {
      await Promise.all(buses.map((bus) => bus.close()));
      buses = [];
    });
    afterAll(() => broker?.stop());
    const running = (): TestBroker => {
      if (broker === undefined) throw new Error('the broker is not running');
      return broker;
    };
    const connect = async (options: Partial<NatsOptions> = {}): Promise<Bus> => {
      const bus = await connectNats({ servers: running().url, name: 'conformance', clock, ...options });
      buses.push(bus);
      return bus;
    };
    body({ broker: running, connect }, variant);
  });
}

export const ALL_BROKERS: readonly BrokerVariant[] = ['embedded', 'embedded, in a thread', 'nats-server'];
