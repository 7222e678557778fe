import type { ModelId } from '../../core/request.ts';
import { encodeToken, lastToken, type Subjects } from '../../transport/subjects.ts';

export interface Destination {
  model: ModelId;
  /** Undefined: any replica of the model. */
  replica: string | undefined;
}

/** Destinations remembered: far above the replicas of any deployment. */
const MAX_DESTINATIONS = 8192;

/**
 * One inbox per destination. What is published to a destination carries its inbox as reply subject, so that
 * the broker's "no responders" answer tells by its own subject who is gone.
 */
export class PeerInboxes {
  private readonly subjects: Subjects;
  private readonly id: string;
  private readonly byTag = new Map<string, Destination>();

  /** @param id unique among all subservers of the namespace */
  constructor(subjects: Subjects, id: string) {
    this.subjects = subjects;
    this.id = id;
  }

  /** The wildcard subject of all inboxes of this subserver. */
  all(): string {
    return this.subjects.allInbox('subserver', this.id);
  }

  for(model: ModelId, replica: string | undefined): string {
    const tag = replica === undefined ? `${model}` : `${model}.${replica}`;
    const encoded = encodeToken(tag);
    if (this.byTag.size < MAX_DESTINATIONS) this.byTag.set(encoded, { model, replica });
    return this.subjects.inbox('subserver', this.id, tag);
  }

  destinationOf(inboxSubject: string): Destination | undefined {
    return this.byTag.get(lastToken(inboxSubject));
  }
}
