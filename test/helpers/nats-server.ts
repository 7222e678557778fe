import { SystemClock } from '../../core/system-clock.ts';
import { startEmbeddedBroker } from '../../transport/embedded-broker/start.ts';
import { findExecutable } from '../../transport/find-executable.ts';
import { startNatsServer } from '../../transport/nats-server-process.ts';

export type TestBrokerKind = 'embedded' | 'nats-server';

export interface TestBrokerOptions {
  maxPayloadBytes?: number;
  token?: string;
  /** Embedded broker: in a thread of its own, as products run it. Default: on the test's loop. */
  inThread?: boolean;
}

export interface TestBroker {
  kind: TestBrokerKind;
  url: string;
  port: number;
  /** Ends the broker; clients see their connections cut. Idempotent. */
  stop(): Promise<void>;
  /** Starts it again on the same port (after `stop`), with options changed where given. */
  restart(changed?: TestBrokerOptions): Promise<void>;
}

const clock = new SystemClock();

/** Whether a nats-server is on the PATH. */
export function hasNatsServer(): boolean {
  return findExecutable('nats-server') !== undefined;
}

/** Set where a missing nats-server must fail the tests that need it instead of skipping them. */
export function requiresNatsServer(): boolean {
  return process.env['TOKENRAIL_REQUIRE_NATS_SERVER'] === '1';
}

type Running = Pick<TestBroker, 'url' | 'port' | 'stop'>;

function start(kind: TestBrokerKind, port: number, options: TestBrokerOptions): Promise<Running> {
  const { inThread = false, ...shared } = options;
  if (kind === 'embedded') return startEmbeddedBroker({ ...shared, port, inThread });
  const executable = findExecutable('nats-server');
  if (executable === undefined) throw new Error('no nats-server on the PATH');
  return startNatsServer({ ...shared, port, executable, clock });
}

/** A broker of its own on a free port of 127.0.0.1. */
export async function startTestBroker(
  kind: TestBrokerKind,
  options: TestBrokerOptions = {},
): Promise<TestBroker> {
  let running = await start(kind, 0, options);
  const { url, port } = running;
  const restart = async (changed: TestBrokerOptions = {}): Promise<void> => {
    await running.stop();
    running = await start(kind, port, { ...options, ...changed });
  };
  return { kind, url, port, stop: () => running.stop(), restart };
}
