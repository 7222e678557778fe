import type { Socket } from 'node:net';
import { areAccepted, areRequired } from './credentials.ts';
import type { Dispatcher, Publisher } from './dispatcher.ts';
import { Outbox } from './outbox.ts';
import { ProtocolParser } from './parser.ts';
import { CRLF, OK, PING, PONG, type ClientCommand, type ProtocolErrorText } from './protocol.ts';
import type { BrokerSettings } from './settings.ts';
import { isPublishable, isSubscribable } from './subject-rules.ts';
import type { Subscription } from './subscription.ts';

/** How long a refused client may take to read why, in milliseconds. */
const GOODBYE_MS = 1000;

type Publish = Extract<ClientCommand, { verb: 'PUB' }>;

export interface ClientHost {
  readonly settings: BrokerSettings;
  readonly dispatcher: Dispatcher;
  /** The connection has ended; `why` is the text of the -ERR where the broker ended it. */
  onClientGone(client: BrokerClient, why?: ProtocolErrorText): void;
}

/** One client connection: what it may do, its subscriptions, its way out. */
export class BrokerClient implements Publisher {
  echo = true;
  wantsNoResponders = false;
  private readonly host: ClientHost;
  private readonly socket: Socket;
  private readonly outbox: Outbox;
  private readonly parser: ProtocolParser;
  private readonly subscriptions = new Map<string, Subscription>();
  private authTimer: NodeJS.Timeout | undefined;
  private isAuthorized: boolean;
  private headers = false;
  private verbose = false;
  private pedantic = false;
  private pingsOut = 0;
  private gone = false;

  constructor(host: ClientHost, socket: Socket, info: string) {
    this.host = host;
    this.socket = socket;
    this.outbox = new Outbox(socket, host.settings.maxPendingBytes, () => this.cut('Slow Consumer'));
    this.parser = new ProtocolParser(
      { onCommand: (command) => this.onCommand(command), onProtocolError: (text) => this.refuse(text) },
      host.settings.maxPayloadBytes,
    );
    this.isAuthorized = !areRequired(host.settings.credentials);
    if (!this.isAuthorized) {
      this.authTimer = setTimeout(() => this.refuse('Authentication Timeout'), host.settings.authTimeoutMs);
    }
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.parser.push(chunk));
    socket.on('error', () => this.leave());
    socket.on('close', () => this.leave());
    this.outbox.push(Buffer.from(`INFO ${info}\r\n`));
    this.outbox.flush();
  }

  deliver(
    subscription: Subscription,
    subject: string,
    reply: string,
    headerBytes: number,
    body: Buffer,
  ): void {
    if (this.gone || this.subscriptions.get(subscription.sid) !== subscription) return;
    subscription.delivered += 1;
    const target =
      reply === '' ? `${subject} ${subscription.sid}` : `${subject} ${subscription.sid} ${reply}`;
    const withHeaders = headerBytes > 0 && this.headers;
    const content = headerBytes > 0 && !withHeaders ? body.subarray(headerBytes) : body;
    const head = withHeaders
      ? `HMSG ${target} ${headerBytes} ${content.length}\r\n`
      : `MSG ${target} ${content.length}\r\n`;
    this.outbox.push(Buffer.from(head, 'latin1'));
    this.outbox.push(content);
    this.outbox.push(CRLF);
    if (subscription.max > 0 && subscription.delivered >= subscription.max) this.drop(subscription);
  }

  /** Sends a PING, or ends the connection when too many have gone unanswered. */
  checkAlive(): void {
    if (this.pingsOut >= this.host.settings.maxPingsOut) {
      this.refuse('Stale Connection');
      return;
    }
    this.pingsOut += 1;
    this.outbox.push(PING);
  }

  /** Sends -ERR and ends the connection. */
  refuse(text: ProtocolErrorText): void {
    if (this.gone) return;
    this.outbox.push(Buffer.from(`-ERR '${text}'\r\n`));
    this.outbox.flush();
    this.leave(text);
    this.socket.end();
    // Destroyed later only: closing with unread input resets the connection, and the -ERR would be lost.
    setTimeout(() => this.socket.destroy(), GOODBYE_MS).unref();
  }

  /** Ends the connection without a word; what is on its way to the client is lost. */
  cut(why?: ProtocolErrorText): void {
    this.leave(why);
    this.socket.destroy();
  }

  private leave(why?: ProtocolErrorText): void {
    if (this.gone) return;
    this.gone = true;
    clearTimeout(this.authTimer);
    this.parser.stop();
    this.outbox.close();
    for (const subscription of this.subscriptions.values())
      this.host.dispatcher.subscriptions.remove(subscription);
    this.subscriptions.clear();
    this.host.onClientGone(this, why);
  }

  private onCommand(command: ClientCommand): void {
    this.pingsOut = 0;
    if (!this.isAuthorized && command.verb !== 'CONNECT') {
      this.refuse('Authorization Violation');
      return;
    }
    switch (command.verb) {
      case 'PUB':
        this.publish(command);
        break;
      case 'SUB':
        this.subscribe(command.subject, command.queue, command.sid);
        break;
      case 'UNSUB':
        this.unsubscribe(command.sid, command.max);
        break;
      case 'PING':
        this.outbox.push(PONG);
        return;
      case 'PONG':
        return;
      case 'CONNECT':
        this.connect(command.json);
        break;
    }
    if (this.verbose) this.outbox.push(OK);
  }

  private connect(json: string): void {
    let options: unknown;
    try {
      options = JSON.parse(json);
    } catch {
      this.refuse('Parser Error');
      return;
    }
    const asked = (typeof options === 'object' && options !== null ? options : {}) as Record<string, unknown>;
    if (!areAccepted(this.host.settings.credentials, asked)) {
      this.refuse('Authorization Violation');
      return;
    }
    this.isAuthorized = true;
    clearTimeout(this.authTimer);
    this.echo = asked['echo'] !== false;
    this.verbose = asked['verbose'] === true;
    this.pedantic = asked['pedantic'] === true;
    this.headers = asked['headers'] === true;
    this.wantsNoResponders = this.headers && asked['no_responders'] === true;
  }

  private publish({ subject, reply, headerBytes, body }: Publish): void {
    if (headerBytes > 0 && !this.headers) {
      this.refuse('Message Headers Not Supported');
      return;
    }
    if (this.pedantic && !isPublishable(subject.split('.'))) this.complain('Invalid Publish Subject');
    this.host.dispatcher.publish(this, subject, reply, headerBytes, body);
  }

  private subscribe(subject: string, queue: string, sid: string): void {
    const tokens = subject.split('.');
    if (!isSubscribable(tokens)) return this.complain('Invalid Subject');
    // A client repeats its subscriptions after a reconnect and may send one twice: the first stands.
    if (this.subscriptions.has(sid)) return;
    if (this.subscriptions.size >= this.host.settings.maxSubscriptionsPerClient) {
      this.refuse('maximum subscriptions exceeded');
      return;
    }
    const subscription = { subscriber: this, sid, tokens, queue, delivered: 0, max: 0 };
    this.subscriptions.set(sid, subscription);
    this.host.dispatcher.subscriptions.add(subscription);
  }

  private unsubscribe(sid: string, max: number): void {
    const subscription = this.subscriptions.get(sid);
    if (subscription === undefined) return;
    subscription.max = max;
    if (max === 0 || subscription.delivered >= max) this.drop(subscription);
  }

  private drop(subscription: Subscription): void {
    this.subscriptions.delete(subscription.sid);
    this.host.dispatcher.subscriptions.remove(subscription);
  }

  /** An -ERR that leaves the connection open. */
  private complain(text: ProtocolErrorText): void {
    this.outbox.push(Buffer.from(`-ERR '${text}'\r\n`));
  }
}
