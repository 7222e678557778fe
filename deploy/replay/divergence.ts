/** How a router's handoffs compare with where the models truly differed, where the recording knows. */
export interface Divergence {
  /** Positions at which the home discarded its token and a guest wrote one. */
  known: number;
  /** Of those, where the two tokens differ. */
  differing: number;
  /** Of the known ones, those that the router hands off. */
  sent: number;
  sentDiffering: number;
}

interface Discarded {
  token: number;
  sentBy: readonly boolean[];
}

const keyOf = (rid: string, position: number): string => `${rid} ${position}`;

/** Pairs the home's discarded token with the one that a guest wrote in its place, whichever is heard of first. */
export class DivergenceTally {
  /** One per variant. */
  readonly results: readonly Divergence[];
  private readonly discarded = new Map<string, Discarded>();
  private readonly written = new Map<string, number>();

  constructor(numVariants: number) {
    this.results = Array.from({ length: numVariants }, () => ({
      known: 0,
      differing: 0,
      sent: 0,
      sentDiffering: 0,
    }));
  }

  /** @param sentBy per variant, whether it hands this position off */
  homeDiscarded(rid: string, position: number, token: number, sentBy: readonly boolean[]): void {
    const key = keyOf(rid, position);
    this.discarded.set(key, { token, sentBy });
    this.pair(key);
  }

  guestWrote(rid: string, position: number, token: number): void {
    const key = keyOf(rid, position);
    this.written.set(key, token);
    this.pair(key);
  }

  /** Nothing more comes of this request. */
  forget(rid: string, length: number, promptLen: number): void {
    for (let position = promptLen; position <= length; position += 1) {
      this.discarded.delete(keyOf(rid, position));
      this.written.delete(keyOf(rid, position));
    }
  }

  private pair(key: string): void {
    const discarded = this.discarded.get(key);
    const written = this.written.get(key);
    if (discarded === undefined || written === undefined) return;
    this.discarded.delete(key);
    this.written.delete(key);
    const differs = discarded.token !== written;
    this.results.forEach((result, variant) => {
      const isSent = discarded.sentBy[variant] === true;
      result.known += 1;
      if (differs) result.differing += 1;
      if (isSent) result.sent += 1;
      if (isSent && differs) result.sentDiffering += 1;
    });
  }
}
