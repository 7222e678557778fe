import { createConnection, type Socket } from 'node:net';

/**
 * A socket that speaks to a broker byte by byte, for what a proper client never sends. Everything received is
 * kept as latin1 text; waiting is for text to appear, not for time to pass.
 */
export class RawNatsClient {
  readonly socket: Socket;
  received = '';
  isClosed = false;
  private readonly waiters = new Set<() => void>();

  private constructor(port: number) {
    this.socket = createConnection(port, '127.0.0.1');
    this.socket.setNoDelay(true);
    this.socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1');
      this.wake();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
      this.wake();
    });
  }

  /** Connects and waits for INFO. */
  static async open(port: number): Promise<RawNatsClient> {
    const client = new RawNatsClient(port);
    await client.until(/INFO .*\r\n/);
    return client;
  }

  /** The fields of INFO. */
  get info(): Record<string, unknown> {
    return JSON.parse(/INFO (.*)\r\n/.exec(this.received)?.[1] ?? '{}') as Record<string, unknown>;
  }

  /** Forgets what was received and returns it. */
  take(): string {
    const text = this.received;
    this.received = '';
    return text;
  }

  send(data: string | Uint8Array): void {
    this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
  }

  /** Resolves with the match once `pattern` was received; rejects when the connection ends without it. */
  until(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const match = pattern.exec(this.received);
        if (match === null && !this.isClosed) return;
        this.waiters.delete(check);
        if (match !== null) resolve(match);
        else reject(new Error(`closed without ${pattern.source}; received ${JSON.stringify(this.received)}`));
      };
      this.waiters.add(check);
      check();
    });
  }

  /** Resolves when the connection has ended. */
  untilClosed(): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!this.isClosed) return;
        this.waiters.delete(check);
        resolve();
      };
      this.waiters.add(check);
      check();
    });
  }

  /** Sends PING and waits for its PONG: everything sent before has been handled. Returns what came before it. */
  async roundTrip(): Promise<string> {
    this.send('PING\r\n');
    await this.until(/PONG\r\n$/);
    return this.take().replace(/PONG\r\n$/, '');
  }

  close(): void {
    this.socket.destroy();
  }

  private wake(): void {
    for (const waiter of [...this.waiters]) waiter();
  }
}
