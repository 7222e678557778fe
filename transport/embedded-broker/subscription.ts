/** Where messages of a subscription go; implemented by a client connection. */
export interface Subscriber {
  deliver(
    subscription: Subscription,
    subject: string,
    reply: string,
    headerBytes: number,
    body: Buffer,
  ): void;
}

export interface Subscription {
  readonly subscriber: Subscriber;
  /** The client's own id for it. */
  readonly sid: string;
  /** The subject, split at the dots. */
  readonly tokens: readonly string[];
  /** Queue group; empty = none. */
  readonly queue: string;
  /** Messages delivered so far. */
  delivered: number;
  /** Ends after this many messages; 0 = never. */
  max: number;
}

/** Everyone who gets a message: each of `plain`, and one of each group. */
export interface MatchResult {
  plain: readonly Subscription[];
  groups: readonly (readonly Subscription[])[];
}
