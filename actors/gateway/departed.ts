import type { Clock } from '../../core/clock.ts';
import type { Abort, Message } from '../../transport/messages.ts';

interface Entry {
  replica: string | undefined;
  abort: Abort | undefined;
  lastAbortMs: number;
}

/** Requests remembered at most, the oldest forgotten first. */
const MAX_ENTRIES = 4_096;
/** Tokens already on their way when the Abort was sent must not each cause another one. */
const REPEAT_MS = 250;

/**
 * Requests that ended here while their home may not know: its Abort was lost, or it was sent before the
 * home's name was known, or a repeated Admit woke a second home. Whoever still works on them is told.
 */
export class Departed {
  private readonly clock: Clock;
  private readonly send: (replica: string, abort: Abort) => void;
  private readonly entries = new Map<string, Entry>();

  constructor(clock: Clock, send: (replica: string, abort: Abort) => void) {
    this.clock = clock;
    this.send = send;
  }

  add(rid: string, replica: string | undefined, abort: Abort | undefined): void {
    const [oldest] = this.entries.keys();
    if (this.entries.size >= MAX_ENTRIES && oldest !== undefined) this.entries.delete(oldest);
    this.entries.set(rid, { replica, abort, lastAbortMs: this.clock.nowMs() });
  }

  /** True if the message belongs to a departed request. */
  onMessage(message: Message): boolean {
    if (!('rid' in message)) return false;
    const entry = this.entries.get(message.rid);
    if (entry === undefined) return false;
    if (message.kind === 'admitted') this.onAdmitted(entry, message.rid, message.term, message.replica);
    if (message.kind === 'tokens') this.onTokens(entry);
    if (message.kind === 'finish') entry.abort = undefined;
    return true;
  }

  private onAdmitted(entry: Entry, rid: string, term: number, replica: string): void {
    if (entry.replica === replica && entry.abort === undefined) return;
    entry.replica ??= replica;
    const abort: Abort = entry.abort ?? { kind: 'abort', rid, term, reason: 'abort' };
    this.send(replica, abort);
  }

  private onTokens(entry: Entry): void {
    if (entry.abort === undefined || entry.replica === undefined) return;
    const nowMs = this.clock.nowMs();
    if (nowMs - entry.lastAbortMs < REPEAT_MS) return;
    entry.lastAbortMs = nowMs;
    this.send(entry.replica, entry.abort);
  }
}
