import type { Clock, Timer } from '../../core/clock.ts';
import { toTokenrailError, type TokenrailError } from '../../core/errors.ts';
import type { Bus, BusSubscription } from '../../transport/bus.ts';
import { decodeFrame } from '../../transport/codec.ts';
import type { Message, RecordEnd, StepRecord } from '../../transport/messages.ts';
import { NumberGaps } from './number-gaps.ts';

export type RecordMessage = StepRecord | RecordEnd;

export interface RecorderOptions {
  /** Where records arrive; wildcards allowed. */
  subject: string;
  /** Records of another deployment are left out. */
  configHash: string;
  /** Ends when this many requests have begun and are over. Default: never. */
  maxRequests?: number;
  /** Requests that may be open at a time; of more those heard of the longest ago count as over. Default 65,536. */
  maxOpenRequests?: number;
  /** A request not heard of for so long counts as over. Default 60 s. */
  silentMs?: number;
}

export interface RecorderDeps {
  bus: Bus;
  clock: Clock;
  /** Keeps the messages of one frame; what it throws ends the recording. */
  write: (messages: readonly RecordMessage[]) => void;
}

/** What a recording has heard. */
export interface RecorderCounts {
  /** Requests whose beginning was heard, and those of them that ended. */
  requests: number;
  ended: number;
  steps: number;
  /** Records that were lost on the way, by the numbers that replicas give them. */
  missed: number;
  /** Records that could not be read. */
  dropped: number;
  /** Records of another deployment's configuration. */
  foreign: number;
  /** Steps of requests that had begun before, or are more than were asked for. */
  late: number;
}

/** Homes that vanish never tell the end of their requests: new ones must be heard all the same. */
const MAX_OPEN_REQUESTS = 65_536;
const MAX_ENDED_REMEMBERED = 4096;

/** Records of other senders may come a little after the end of a request. */
const SETTLE_MS = 250;

/** What tells the end of a request may be lost on the way. Far longer than a request that goes on waits or reads a prompt. */
const SILENT_MS = 60_000;

/** Hears the records of a deployment and hands on those of requests that began after it began to listen. */
export class Recorder {
  readonly counts: RecorderCounts = {
    requests: 0,
    ended: 0,
    steps: 0,
    missed: 0,
    dropped: 0,
    foreign: 0,
    late: 0,
  };
  /** Resolves with nothing, or with what made it stop early, once it has ended. */
  readonly done: Promise<TokenrailError | undefined>;
  private readonly options: RecorderOptions;
  private readonly deps: RecorderDeps;
  private readonly gaps = new NumberGaps();
  /** When each was heard of last; those heard of the longest ago first. */
  private readonly open = new Map<string, number>();
  private readonly endedRids = new Set<string>();
  private subscription: BusSubscription | undefined;
  private ending: Timer | undefined;
  private finish: (error?: TokenrailError) => void = () => {};

  constructor(options: RecorderOptions, deps: RecorderDeps) {
    this.options = options;
    this.deps = deps;
    this.done = new Promise((resolve) => (this.finish = resolve));
  }

  /** Resolves when the broker knows of the subscription. */
  async start(): Promise<void> {
    this.subscription = this.deps.bus.subscribe(this.options.subject, ({ payload }) => this.receive(payload));
    await this.deps.bus.flush();
  }

  /** Ends in good order. Idempotent. */
  stop(error?: TokenrailError): void {
    this.subscription?.unsubscribe();
    this.ending?.cancel();
    this.finish(error);
  }

  private receive(payload: Uint8Array): void {
    const { messages, dropped } = decodeFrame(payload);
    this.counts.dropped += dropped;
    const kept = messages.filter((message): message is RecordMessage => this.isWanted(message));
    if (kept.length === 0) return;
    try {
      this.deps.write(kept);
    } catch (thrown) {
      this.stop(toTokenrailError(thrown));
    }
  }

  private isWanted(message: Message): boolean {
    if (message.kind !== 'step-record' && message.kind !== 'record-end') {
      this.counts.dropped += 1;
      return false;
    }
    if (message.configHash !== this.options.configHash) {
      this.counts.foreign += 1;
      return false;
    }
    this.counts.missed += this.gaps.before(`${message.model} ${message.replica}`, message.number);
    return message.kind === 'step-record' ? this.isStepWanted(message) : this.isEndWanted(message);
  }

  private isStepWanted({ rid, numGenerated }: StepRecord): boolean {
    const { counts, open, endedRids } = this;
    const isOpen = open.delete(rid);
    const isNew = !isOpen && !endedRids.has(rid);
    if (isNew && (numGenerated > 0 || this.isFull)) {
      counts.late += 1;
      return false;
    }
    if (isOpen || isNew) open.set(rid, this.deps.clock.nowMs());
    if (isNew) this.begun();
    counts.steps += 1;
    return true;
  }

  private begun(): void {
    this.counts.requests += 1;
    forgetOldest(this.open, this.options.maxOpenRequests ?? MAX_OPEN_REQUESTS);
    this.awaitEnd();
  }

  private isEndWanted({ rid }: RecordEnd): boolean {
    if (!this.open.delete(rid)) return false;
    this.counts.ended += 1;
    this.endedRids.add(rid);
    forgetOldest(this.endedRids, MAX_ENDED_REMEMBERED);
    this.awaitEnd();
    return true;
  }

  /** Whether as many requests have begun as are wanted. */
  private get isFull(): boolean {
    return this.counts.requests >= (this.options.maxRequests ?? Infinity);
  }

  /** Ends once all that have begun are over, be it that nothing more is heard of them. */
  private awaitEnd(): void {
    if (!this.isFull) return;
    const { clock } = this.deps;
    this.ending?.cancel();
    this.ending = clock.setTimer(Math.max(SETTLE_MS, this.overMs() - clock.nowMs()), () => {
      if (this.overMs() <= clock.nowMs()) this.stop();
      else this.awaitEnd(); // heard of meanwhile
    });
  }

  /** When all that are open count as over if nothing more is heard of them. */
  private overMs(): number {
    let lastMs = -Infinity;
    for (const heardMs of this.open.values()) lastMs = heardMs; // in the order in which they were heard of
    return lastMs + (this.options.silentMs ?? SILENT_MS);
  }
}

/** Of a set or map to which one at a time is added. */
function forgetOldest(rids: Set<string> | Map<string, number>, most: number): void {
  const [oldest] = rids.keys();
  if (rids.size > most && oldest !== undefined) rids.delete(oldest);
}
