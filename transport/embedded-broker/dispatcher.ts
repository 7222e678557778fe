import { NO_RESPONDERS_HEADERS } from './protocol.ts';
import { SubjectTrie } from './subject-trie.ts';
import { isPublishable } from './subject-rules.ts';
import type { MatchResult, Subscriber, Subscription } from './subscription.ts';

/** The sender of a message, as the dispatcher sees it. */
export interface Publisher extends Subscriber {
  /** Whether its own subscriptions get what it publishes. */
  readonly echo: boolean;
  /** Whether it wants the 503 message when nobody listens. */
  readonly wantsNoResponders: boolean;
}

/** Picks one of `count` members of a queue group: an index below `count`. */
export type PickMember = (count: number) => number;

const JETSTREAM_API = '$JS.API.';

/** The shape of a JetStream API error, with the code that means "not enabled for this account". */
const JETSTREAM_REFUSAL = Buffer.from(
  JSON.stringify({
    type: 'io.nats.jetstream.api.v1.error',
    error: {
      code: 503,
      err_code: 10076,
      description: 'the embedded broker offers no JetStream; run nats-server -js and give its URL',
    },
  }),
);

/** Takes a published message to its subscribers. */
export class Dispatcher {
  readonly subscriptions = new SubjectTrie();
  private readonly pick: PickMember;

  constructor(pick: PickMember) {
    this.pick = pick;
  }

  publish(from: Publisher, subject: string, reply: string, headerBytes: number, body: Buffer): void {
    if (subject.startsWith(JETSTREAM_API)) {
      this.refuseJetStream(reply);
      return;
    }
    const isDeliverable = isPublishable(subject.split('.'));
    const hits = isDeliverable ? this.deliverAll(from, subject, reply, headerBytes, body) : 0;
    if (hits === 0 && reply !== '' && from.wantsNoResponders) this.tellNobodyListens(from, reply);
  }

  private deliverAll(
    from: Publisher,
    subject: string,
    reply: string,
    headerBytes: number,
    body: Buffer,
  ): number {
    const { plain, groups } = this.subscriptions.match(subject);
    let hits = 0;
    for (const subscription of plain) {
      if (subscription.subscriber === from && !from.echo) continue;
      hits += 1;
      subscription.subscriber.deliver(subscription, subject, reply, headerBytes, body);
    }
    for (const members of groups) {
      const member = this.memberFor(from, members);
      if (member === undefined) continue;
      hits += 1;
      member.subscriber.deliver(member, subject, reply, headerBytes, body);
    }
    return hits;
  }

  private memberFor(from: Publisher, members: readonly Subscription[]): Subscription | undefined {
    const eligible = from.echo ? members : members.filter((member) => member.subscriber !== from);
    return eligible.length === 1 ? eligible[0] : eligible[this.pick(Math.max(1, eligible.length))];
  }

  /** The 503 goes to the publisher's own subscription for the reply subject, as nats-server does it. */
  private tellNobodyListens(from: Publisher, reply: string): void {
    const own = allOf(this.subscriptions.match(reply)).find(
      (subscription) => subscription.subscriber === from,
    );
    if (own !== undefined) from.deliver(own, reply, '', NO_RESPONDERS_HEADERS.length, NO_RESPONDERS_HEADERS);
  }

  private refuseJetStream(reply: string): void {
    if (reply === '') return;
    for (const subscription of allOf(this.subscriptions.match(reply))) {
      subscription.subscriber.deliver(subscription, reply, '', 0, JETSTREAM_REFUSAL);
    }
  }
}

const allOf = (match: MatchResult): Subscription[] => [...match.plain, ...match.groups.flat()];
