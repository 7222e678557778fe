import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { TokenrailError } from '../core/errors.ts';
import { DEFAULT_MAX_PAYLOAD_BYTES } from './embedded-broker/protocol.ts';
import { endWithParent } from './end-with-parent.ts';
import { natsServerConfig } from './nats-server-config.ts';
import { makeOwnedFolder } from './owned-folder.ts';

export interface NatsServerOptions {
  /** Path of the program, as `findExecutable` gives it. */
  executable: string;
  clock: Clock;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0 = a free one. */
  port?: number;
  /** Default 1 MiB. */
  maxPayloadBytes?: number;
  token?: string;
  /** Time until it must listen, in milliseconds; default 10,000. */
  startTimeoutMs?: number;
  /** Called when the server ends without being asked to. */
  onFailure?: (error: TokenrailError) => void;
}

export interface NatsServerProcess {
  /** `nats://host:port`. */
  url: string;
  port: number;
  pid: number;
  /** Ends the server and resolves when it is gone. Idempotent. */
  stop(): Promise<void>;
}

/** Without news from the folder's watcher, the ports file is looked for this often. */
const LOOK_AGAIN_MS = 100;

/** A server that ignores the request to end is killed after this. */
const STOP_PATIENCE_MS = 3000;

const MAX_LOG_TAIL_CHARS = 2000;

/** The address the server says it is bound to; undefined until its file is there and complete. */
function readBoundUrl(folder: string): URL | undefined {
  const name = readdirSync(folder).find((file) => file.endsWith('.ports'));
  if (name === undefined) return undefined;
  try {
    const { nats } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { nats?: string[] };
    return nats?.[0] === undefined ? undefined : new URL(nats[0]);
  } catch {
    return undefined;
  }
}

/** A running child, its private folder, and what it said last. */
class ServerChild {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly ended: Promise<void>;
  isStopping = false;
  logTail = '';
  private readonly clock: Clock;
  private readonly killAtExit = (): void => void this.child.kill('SIGKILL');

  constructor(options: NatsServerOptions) {
    const {
      executable,
      clock,
      host = '127.0.0.1',
      port = 0,
      maxPayloadBytes = DEFAULT_MAX_PAYLOAD_BYTES,
    } = options;
    this.clock = clock;
    this.folder = makeOwnedFolder('nats');
    const token = options.token === undefined ? {} : { token: options.token };
    const config = natsServerConfig({ host, port, maxPayloadBytes, portsFolder: this.folder, ...token });
    const configFile = join(this.folder, 'nats.conf');
    writeFileSync(configFile, config, { mode: 0o600 });
    // Detached: a Ctrl-C in the terminal must not end the server while its clients still drain.
    this.child = spawn(executable, ['-c', configFile], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    const callOff = this.child.pid === undefined ? undefined : endWithParent(this.child.pid, this.folder);
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.logTail = (this.logTail + chunk.toString()).slice(-MAX_LOG_TAIL_CHARS);
    });
    process.once('exit', this.killAtExit);
    this.ended = new Promise((resolve) => {
      const onEnd = (): void => {
        callOff?.();
        process.off('exit', this.killAtExit);
        rmSync(this.folder, { recursive: true, force: true });
        resolve();
      };
      this.child.once('error', onEnd);
      this.child.once('exit', onEnd);
    });
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.child.kill('SIGTERM');
    const patience = this.clock.setTimer(STOP_PATIENCE_MS, this.killAtExit);
    await this.ended;
    patience.cancel();
  }
}

/** Resolves with the bound address, or with undefined when the server ends or takes too long. */
function waitForUrl(server: ServerChild, clock: Clock, timeoutMs: number): Promise<URL | undefined> {
  return new Promise((resolve) => {
    let again = clock.setTimer(0, () => look());
    const watcher = watch(server.folder, () => look());
    const finish = (url: URL | undefined): void => {
      again.cancel();
      deadline.cancel();
      watcher.close();
      resolve(url);
    };
    const deadline = clock.setTimer(timeoutMs, () => finish(undefined));
    const look = (): void => {
      again.cancel();
      if (server.child.exitCode !== null || server.child.signalCode !== null) return;
      const url = readBoundUrl(server.folder);
      if (url !== undefined) finish(url);
      else again = clock.setTimer(LOOK_AGAIN_MS, () => look());
    };
    watcher.on('error', () => {});
    void server.ended.then(() => finish(undefined));
  });
}

/**
 * Starts a nats-server for this deployment alone, with a configuration of ours in a folder of its own, and
 * resolves once it accepts clients. The server ends with this process.
 * @throws TokenrailError `bus_unavailable` when it does not come up; the message holds the end of its log
 */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServerProcess> {
  const server = new ServerChild(options);
  const url = await waitForUrl(server, options.clock, options.startTimeoutMs ?? 10_000);
  if (url === undefined) {
    await server.stop();
    throw new TokenrailError(
      'bus_unavailable',
      `${options.executable} does not start: ${server.logTail.trim()}`,
    );
  }
  void server.ended.then(() => {
    if (server.isStopping) return;
    options.onFailure?.(new TokenrailError('bus_unavailable', `nats-server ended: ${server.logTail.trim()}`));
  });
  const port = Number(url.port);
  return { url: `nats://${url.host}`, port, pid: server.child.pid ?? 0, stop: () => server.stop() };
}
