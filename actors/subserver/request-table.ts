import type { Finish, TokenOrigins } from '../../transport/messages.ts';
import type { LiveRequest } from './live-request.ts';

/** What a gateway may still ask for after the end of a request. */
export interface FinishedRecord {
  gateway: string;
  ids: readonly number[];
  origins: TokenOrigins;
  finish: Finish;
}

const MAX_TOMBSTONES = 8192;
const MAX_FINISHED = 512;

function trim<K, V>(map: Map<K, V>, limit: number): void {
  for (const key of map.keys()) {
    if (map.size <= limit) return;
    map.delete(key);
  }
}

/** All requests with state at this subserver, and the memory of those that had. Every part is bounded. */
export class RequestTable {
  private readonly live = new Map<string, LiveRequest>();
  /** Released requests by rid, with the term of the release: late messages up to it are void. */
  private readonly tombstones = new Map<string, number>();
  private readonly finished = new Map<string, FinishedRecord>();
  private numHomes = 0;
  private nextSeq = 1;

  get size(): number {
    return this.live.size;
  }

  /** Live requests whose home is here. */
  get numAtHome(): number {
    return this.numHomes;
  }

  takeSeq(): number {
    const seq = this.nextSeq;
    this.nextSeq += 1;
    return seq;
  }

  get(rid: string): LiveRequest | undefined {
    return this.live.get(rid);
  }

  values(): IterableIterator<LiveRequest> {
    return this.live.values();
  }

  add(request: LiveRequest): void {
    this.live.set(request.rid, request);
    if (request.role === 'home') this.numHomes += 1;
  }

  remove(request: LiveRequest): void {
    if (!this.live.delete(request.rid)) return;
    if (request.role === 'home') this.numHomes -= 1;
  }

  bury(rid: string, term: number): void {
    this.tombstones.delete(rid);
    this.tombstones.set(rid, term);
    trim(this.tombstones, MAX_TOMBSTONES);
  }

  /** Whether a message of this term about this request comes too late. */
  isBuried(rid: string, term: number): boolean {
    const buriedTerm = this.tombstones.get(rid);
    return buriedTerm !== undefined && term <= buriedTerm;
  }

  remember(rid: string, record: FinishedRecord): void {
    this.finished.set(rid, record);
    trim(this.finished, MAX_FINISHED);
  }

  recall(rid: string): FinishedRecord | undefined {
    return this.finished.get(rid);
  }
}
