import type { LiveRequest } from './live-request.ts';

/** Requests whose next step may run, in order of arrival. Bounded by the number of live requests. */
export class ReadyQueue {
  private readonly queue = new Set<LiveRequest>();

  get size(): number {
    return this.queue.size;
  }

  /** Since when the oldest member waits; undefined when empty. */
  get oldestReadyMs(): number | undefined {
    for (const request of this.queue) return request.readySinceMs; // members stand in the order of their time
    return undefined;
  }

  /** Appends; a member keeps its place. */
  push(request: LiveRequest, nowMs: number): void {
    if (this.queue.has(request)) return;
    request.readySinceMs = nowMs;
    this.queue.add(request);
  }

  has(request: LiveRequest): boolean {
    return this.queue.has(request);
  }

  remove(request: LiveRequest): void {
    this.queue.delete(request);
  }

  values(): IterableIterator<LiveRequest> {
    return this.queue.values();
  }
}
