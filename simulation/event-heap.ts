import type { Timer } from '../core/clock.ts';

interface Event extends Timer {
  timeUs: number;
  order: number;
  callback: (() => void) | undefined;
}

/** A binary heap of callbacks by time, first set first run among equals. Cancelled ones are skipped. */
export class EventHeap {
  private readonly events: Event[] = [];
  private nextOrder = 0;

  push(timeUs: number, callback: () => void): Timer {
    const event: Event = {
      timeUs,
      order: this.nextOrder,
      callback,
      cancel: () => {
        event.callback = undefined;
      },
    };
    this.nextOrder += 1;
    this.events.push(event);
    this.up(this.events.length - 1);
    return event;
  }

  nextTimeUs(): number | undefined {
    while (this.events[0] && !this.events[0].callback) this.removeFirst();
    return this.events[0]?.timeUs;
  }

  pop(): (() => void) | undefined {
    if (this.nextTimeUs() === undefined) return undefined;
    return this.removeFirst()?.callback;
  }

  private removeFirst(): Event | undefined {
    const first = this.events[0];
    const last = this.events.pop();
    if (last && this.events.length > 0) {
      this.events[0] = last;
      this.down(0);
    }
    return first;
  }

  private isBefore(i: number, j: number): boolean {
    const a = this.events[i];
    const b = this.events[j];
    if (!a || !b) return a !== undefined;
    return a.timeUs < b.timeUs || (a.timeUs === b.timeUs && a.order < b.order);
  }

  private swap(i: number, j: number): void {
    const a = this.events[i];
    const b = this.events[j];
    if (!a || !b) return;
    this.events[i] = b;
    this.events[j] = a;
  }

  private up(start: number): void {
    let i = start;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.isBefore(i, parent)) return;
      this.swap(i, parent);
      i = parent;
    }
  }

  private down(start: number): void {
    let i = start;
    for (;;) {
      const left = 2 * i + 1;
      const right = left + 1;
      let least = i;
      if (left < this.events.length && this.isBefore(left, least)) least = left;
      if (right < this.events.length && this.isBefore(right, least)) least = right;
      if (least === i) return;
      this.swap(i, least);
      i = least;
    }
  }
}
