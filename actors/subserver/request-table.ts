import type { Finish, TokenOrigins } from '../../transport/messages.ts';
import { isHomeRequest, type HomeRequest } from './home-request.ts';
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
  private readonly live = new Set<LiveRequest>();
  /**
   * By rid. More than one only at a guest, and only while two homes hold the same request: an Admit whose
   * answer was lost may have been taken by a second replica, and the two must not meet in one guest's state.
   */
  private readonly byRid = new Map<string, LiveRequest[]>();
  /** Released requests by rid, with the highest term of a release: late messages up to it are void. */
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

  /** The request of this rid whose home is here. */
  home(rid: string): HomeRequest | undefined {
    return this.of(rid).find(isHomeRequest);
  }

  /** The request of this rid that is a guest here for the given home replica. */
  guest(rid: string, homeReplica: string): LiveRequest | undefined {
    return this.guests(rid).find(({ home }) => home.replica === homeReplica);
  }

  /** Guests of this rid, whatever their home; rarely more than one. */
  guests(rid: string): LiveRequest[] {
    return this.of(rid).filter(({ role }) => role === 'guest');
  }

  values(): IterableIterator<LiveRequest> {
    return this.live.values();
  }

  add(request: LiveRequest): void {
    this.live.add(request);
    this.byRid.set(request.rid, [...this.of(request.rid), request]);
    if (request.role === 'home') this.numHomes += 1;
  }

  remove(request: LiveRequest): void {
    if (!this.live.delete(request)) return;
    const others = this.of(request.rid).filter((other) => other !== request);
    if (others.length === 0) this.byRid.delete(request.rid);
    else this.byRid.set(request.rid, others);
    if (request.role === 'home') this.numHomes -= 1;
  }

  /** A late release of an older term does not lower what a newer one has said. */
  bury(rid: string, term: number): void {
    const highest = Math.max(term, this.tombstones.get(rid) ?? 0);
    this.tombstones.delete(rid);
    this.tombstones.set(rid, highest);
    trim(this.tombstones, MAX_TOMBSTONES);
  }

  /** Whether a message of this term about this request comes too late. */
  isBuried(rid: string, term: number): boolean {
    const buriedTerm = this.tombstones.get(rid);
    return buriedTerm !== undefined && term <= buriedTerm;
  }

  remember(rid: string, record: FinishedRecord): void {
    this.finished.delete(rid);
    this.finished.set(rid, record);
    trim(this.finished, MAX_FINISHED);
  }

  recall(rid: string): FinishedRecord | undefined {
    return this.finished.get(rid);
  }

  private of(rid: string): readonly LiveRequest[] {
    return this.byRid.get(rid) ?? [];
  }
}
