import type { Deployment } from '../../core/deployment.ts';
import type { EndReason, ModelId } from '../../core/request.ts';
import type { Bus, BusMessage } from '../../transport/bus.ts';
import { decodeFrame, encodeFrame } from '../../transport/codec.ts';
import type { Abort, Admit, Heartbeat, Message, NeedsPrefix, Reject } from '../../transport/messages.ts';
import { Subjects } from '../../transport/subjects.ts';

export interface ScriptedHomeOptions {
  deployment: Deployment;
  replica?: string;
  configHash?: string;
  maxModelLenTokens?: number;
  /** Ids the home "generates" for a prompt, the end token included if it is to end so. */
  answer?: (admit: Admit) => readonly number[];
  /** Model that writes token `index`; default the home. */
  writer?: (index: number) => ModelId;
  /** Whether admitted requests are answered by themselves, a token per turn of the loop; default true. */
  auto?: boolean;
}

/** A request at the scripted home, to be moved by hand. */
export class HomeSession {
  readonly ids: number[] = [];
  ended = false;
  private readonly home: ScriptedHome;
  readonly admit: Admit;
  readonly reply: string;

  constructor(home: ScriptedHome, admit: Admit, reply: string) {
    this.home = home;
    this.admit = admit;
    this.reply = reply;
  }

  admitted(): void {
    const { rid, term } = this.admit;
    this.home.send(this.reply, {
      kind: 'admitted',
      rid,
      term,
      model: this.home.deployment.home,
      replica: this.home.replica,
    });
  }

  reject(fields: Pick<Reject, 'code' | 'message' | 'retryable'>): void {
    const { rid, term } = this.admit;
    const { home } = this;
    home.send(this.reply, {
      kind: 'reject',
      rid,
      term,
      hop: 0,
      model: home.deployment.home,
      replica: home.replica,
      ...fields,
    });
  }

  /** Commits and sends tokens; a whole Tokens message. */
  tokens(ids: readonly number[]): void {
    const position = this.ids.length;
    this.ids.push(...ids);
    this.sendTokens(position, ids);
  }

  sendTokens(position: number, ids: readonly number[], term = this.admit.term): void {
    const models = ids.map((_, i) => this.home.writer(position + i));
    const origins = { models, signals: ids.map((_, i) => (position + i) / 64) };
    this.home.send(this.gateway(), { kind: 'tokens', rid: this.admit.rid, term, position, ids, origins });
  }

  finish(reason: EndReason, error?: { code: string; message: string }, handoffs = 0): void {
    this.ended = true;
    const counts = new Map<ModelId, number>();
    this.ids.forEach((_, i) => counts.set(this.home.writer(i), (counts.get(this.home.writer(i)) ?? 0) + 1));
    const usage = {
      promptTokens: this.admit.init.promptLen,
      completionTokens: this.ids.length,
      tokensByModel: [...counts],
      handoffs,
    };
    const { rid, term } = this.admit;
    this.home.send(this.gateway(), {
      kind: 'finish',
      rid,
      term,
      reason,
      usage,
      ...(error === undefined ? {} : { error }),
    });
  }

  private gateway(): string {
    return this.home.subjects.gateway(this.admit.gateway);
  }
}

/** A home that speaks the real protocol over a real bus and does what a test says. */
export class ScriptedHome {
  readonly deployment: Deployment;
  readonly replica: string;
  readonly subjects: Subjects;
  readonly admits: Admit[] = [];
  readonly aborts: Abort[] = [];
  readonly asks: NeedsPrefix[] = [];
  readonly sessions = new Map<string, HomeSession>();
  writer: (index: number) => ModelId;
  answer: (admit: Admit) => readonly number[];
  /** Replaces the default handling of an Admit. */
  onAdmit: ((session: HomeSession) => void) | undefined;
  /** Replaces the default handling of NeedsPrefix: answering with what is there. */
  onAsk: ((message: NeedsPrefix, session: HomeSession | undefined) => void) | undefined;
  private readonly bus: Bus;
  private readonly options: ScriptedHomeOptions;
  private stops: (() => void)[] = [];
  private stopped = false;

  constructor(bus: Bus, options: ScriptedHomeOptions) {
    this.bus = bus;
    this.options = options;
    this.deployment = options.deployment;
    this.replica = options.replica ?? 'r1';
    this.subjects = new Subjects(options.deployment.namespace);
    this.writer = options.writer ?? (() => options.deployment.home);
    this.answer = options.answer ?? (() => []);
  }

  get homeName(): string {
    return this.deployment.models.find(({ id }) => id === this.deployment.home)?.name ?? '';
  }

  async start(): Promise<void> {
    const onMessage = (message: BusMessage): void => this.receive(message);
    const model = this.bus.subscribe(this.subjects.model(this.homeName), onMessage, { queue: 'replicas' });
    const replica = this.bus.subscribe(this.subjects.replica(this.homeName, this.replica), onMessage);
    this.stops = [() => model.unsubscribe(), () => replica.unsubscribe()];
    await this.bus.flush();
    for (const { id } of this.deployment.models) this.heartbeat({ model: id });
    await this.bus.flush();
  }

  /** Leaves the bus without a word, as a killed process does. */
  stop(): void {
    this.stopped = true;
    for (const stop of this.stops) stop();
  }

  heartbeat(fields: Partial<Heartbeat> = {}): void {
    const heartbeat: Heartbeat = {
      kind: 'heartbeat',
      model: this.deployment.home,
      replica: this.replica,
      instance: 'instance-1',
      configHash: this.options.configHash ?? 'hash',
      state: 'serving',
      running: 0,
      waiting: 0,
      pending: 0,
      kvUsedBlocks: 0,
      kvTotalBlocks: 8,
      maxModelLenTokens: this.options.maxModelLenTokens ?? 512,
      stepAgeMs: 0,
      counters: {},
      ...fields,
    };
    const name = this.deployment.models.find(({ id }) => id === heartbeat.model)?.name ?? '';
    this.send(this.subjects.heartbeat(name, heartbeat.replica), heartbeat);
  }

  send(subject: string, message: Message): void {
    if (!this.stopped) this.bus.publish(subject, encodeFrame([message]));
  }

  session(index = 0): HomeSession {
    const session = [...this.sessions.values()][index];
    if (session === undefined) throw new Error(`the home has no request number ${index}`);
    return session;
  }

  private receive(message: BusMessage): void {
    for (const inner of decodeFrame(message.payload).messages) {
      if (inner.kind === 'admit') this.handleAdmit(inner, message.reply ?? '');
      if (inner.kind === 'abort') this.handleAbort(inner);
      if (inner.kind === 'needs-prefix') this.handleAsk(inner);
    }
  }

  private handleAdmit(admit: Admit, reply: string): void {
    this.admits.push(admit);
    const known = this.sessions.get(admit.rid);
    const session = known ?? new HomeSession(this, admit, reply);
    this.sessions.set(admit.rid, session);
    if (this.onAdmit !== undefined) return this.onAdmit(session);
    session.admitted();
    if (known === undefined && this.options.auto !== false) this.generate(session, [...this.answer(admit)]);
  }

  private generate(session: HomeSession, rest: number[]): void {
    if (session.ended || this.stopped) return;
    const { maxTokens, stopIds } = session.admit.init.limits;
    const id = rest.shift();
    // An answer that runs dry without an end token goes on for ever: the client must end it.
    if (id !== undefined) session.tokens([id]);
    if (id !== undefined && stopIds.includes(id)) return session.finish('eos');
    if (session.ids.length >= maxTokens) return session.finish('length');
    setImmediate(() => this.generate(session, rest));
  }

  private handleAbort(abort: Abort): void {
    this.aborts.push(abort);
    const session = this.sessions.get(abort.rid);
    if (session === undefined || session.ended) return;
    if (abort.at !== undefined) session.ids.length = Math.min(session.ids.length, abort.at);
    session.finish(abort.reason);
  }

  private handleAsk(message: NeedsPrefix): void {
    this.asks.push(message);
    const session = this.sessions.get(message.rid);
    if (this.onAsk !== undefined) return this.onAsk(message, session);
    if (session !== undefined) session.sendTokens(message.have, session.ids.slice(message.have));
  }
}
