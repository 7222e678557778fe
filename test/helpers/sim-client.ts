import type { Clock, Timer } from '../../core/clock.ts';
import type { ModelId } from '../../core/request.ts';
import type { Bus } from '../../transport/bus.ts';
import { decodeFrame, encodeFrame } from '../../transport/codec.ts';
import type { Abort, Finish, Message, RequestInit } from '../../transport/messages.ts';
import type { Subjects } from '../../transport/subjects.ts';

/** One request as this client sees it. */
export interface Stream {
  rid: string;
  ids: number[];
  models: ModelId[];
  signals: number[];
  homeReplica: string | undefined;
  finish: Finish | undefined;
  rejectedWith: string | undefined;
  /** Finish messages seen; more than one is a fault unless the network doubles messages. */
  numFinishes: number;
}

interface Pending {
  stream: Stream;
  admit: Message;
  timer: Timer | undefined;
  /** A second home took the request and was told to stop: its Finish is not the request's. */
  isDuplicateSentAway: boolean;
  isAborted: boolean;
}

/** A minimal gateway for simulations: admits with repeats, asks for what is missing, never trusts order. */
export class SimClient {
  readonly streams = new Map<string, Stream>();
  private readonly pending = new Map<string, Pending>();
  private readonly id = 'gw';
  private readonly bus: Bus;
  private readonly clock: Clock;
  private readonly subjects: Subjects;
  private readonly homeModel: string;
  private readonly retryMs: number;

  constructor(bus: Bus, clock: Clock, subjects: Subjects, homeModel: string, retryMs = 2000) {
    this.bus = bus;
    this.clock = clock;
    this.subjects = subjects;
    this.homeModel = homeModel;
    this.retryMs = retryMs;
    bus.subscribe(subjects.gateway(this.id), (message) => this.receive(message.payload));
    bus.subscribe(subjects.allInbox('gateway', this.id), (message) => {
      if (!message.isNoResponders) this.receive(message.payload);
    });
  }

  get numOpen(): number {
    return this.pending.size;
  }

  submit(rid: string, tokens: readonly number[], init: RequestInit, deadlineMs?: number): Stream {
    const stream: Stream = {
      rid,
      ids: [],
      models: [],
      signals: [],
      homeReplica: undefined,
      finish: undefined,
      rejectedWith: undefined,
      numFinishes: 0,
    };
    this.streams.set(rid, stream);
    const deadline = deadlineMs === undefined ? {} : { deadlineMs };
    const admit: Message = { kind: 'admit', rid, term: 0, tokens, init, gateway: this.id, ...deadline };
    const flags = { isDuplicateSentAway: false, isAborted: false };
    const pending: Pending = { stream, admit, timer: undefined, ...flags };
    this.pending.set(rid, pending);
    this.ask(pending);
    return stream;
  }

  abort(rid: string, reason: Abort['reason'], at?: number): void {
    const replica = this.streams.get(rid)?.homeReplica;
    if (replica === undefined) throw new Error(`${rid} has no home yet`);
    const pending = this.pending.get(rid);
    if (pending) pending.isAborted = true;
    const abort: Abort = { kind: 'abort', rid, term: 0, reason, ...(at === undefined ? {} : { at }) };
    this.bus.publish(this.subjects.replica(this.homeModel, replica), encodeFrame([abort]));
  }

  /** Admit until somebody answers, then ask for what is missing until the end is known. */
  private ask(pending: Pending): void {
    const { stream, admit } = pending;
    const reply = this.subjects.inbox('gateway', this.id, stream.rid);
    if (stream.homeReplica === undefined) {
      this.bus.publish(this.subjects.model(this.homeModel), encodeFrame([admit]), { reply });
    } else {
      const message: Message = {
        kind: 'needs-prefix',
        rid: stream.rid,
        term: 0,
        hop: 0,
        from: 0,
        fromReplica: this.id,
        have: stream.ids.length,
      };
      this.bus.publish(this.subjects.replica(this.homeModel, stream.homeReplica), encodeFrame([message]), {
        reply,
      });
    }
    pending.timer?.cancel();
    pending.timer = this.clock.setTimer(this.retryMs, () => this.ask(pending));
  }

  private receive(payload: Uint8Array): void {
    for (const message of decodeFrame(payload).messages) {
      const pending = 'rid' in message ? this.pending.get(message.rid) : undefined;
      if (pending) this.handle(pending, message);
      else if (message.kind === 'finish')
        (this.streams.get(message.rid) ?? { numFinishes: 0 }).numFinishes += 1;
    }
  }

  private handle(pending: Pending, message: Message): void {
    const { stream } = pending;
    if (message.kind === 'admitted') {
      if (stream.homeReplica === undefined) stream.homeReplica = message.replica;
      else if (stream.homeReplica !== message.replica) {
        pending.isDuplicateSentAway = true;
        const abort: Abort = { kind: 'abort', rid: stream.rid, term: 0, reason: 'abort' };
        this.bus.publish(this.subjects.replica(this.homeModel, message.replica), encodeFrame([abort]));
      }
    } else if (message.kind === 'reject') {
      stream.rejectedWith = message.code;
      this.close(pending);
    } else if (message.kind === 'tokens') {
      message.ids.forEach((id, i) => {
        if (message.position + i !== stream.ids.length) return; // overlap, or a gap that `ask` will close
        stream.ids.push(id);
        stream.models.push(message.origins.models[i] ?? 0);
        stream.signals.push(message.origins.signals[i] ?? NaN);
      });
    } else if (message.kind === 'finish') {
      if (message.reason === 'abort' && pending.isDuplicateSentAway && !pending.isAborted) return;
      stream.numFinishes += 1;
      const isTruncated = message.reason === 'stop';
      if (stream.ids.length < message.usage.completionTokens && message.reason !== 'error') return;
      if (isTruncated) stream.ids.length = message.usage.completionTokens;
      stream.finish = message;
      this.close(pending);
    }
  }

  private close(pending: Pending): void {
    pending.timer?.cancel();
    this.pending.delete(pending.stream.rid);
  }
}
