/**
 * The only place that builds subjects. Names of models and replicas are encoded to `[A-Za-z0-9_-]`; a byte
 * outside `[A-Za-z0-9-]` becomes `_` and two hexadecimal digits, so different names never meet.
 */
export function encodeToken(name: string): string {
  let token = '';
  for (const byte of Buffer.from(name, 'utf8')) {
    const char = String.fromCharCode(byte);
    token += /[A-Za-z0-9-]/.test(char) ? char : `_${byte.toString(16).padStart(2, '0')}`;
  }
  return token;
}

/** Who owns an inbox; permissions can be cut per role. */
export type InboxRole = 'gateway' | 'subserver' | 'client';

/** All subjects under one namespace. */
export class Subjects {
  private readonly ns: string;

  constructor(namespace: string) {
    this.ns = encodeToken(namespace);
  }

  /** Client requests, msgpack or JSON (queue group of the gateways). */
  requests(): string {
    return `${this.ns}.requests`;
  }

  /** First contact with a model: one message per request, to any replica of the queue group. */
  model(model: string): string {
    return `${this.ns}.model.${encodeToken(model)}`;
  }

  /** One replica of a model. */
  replica(model: string, replica: string): string {
    return `${this.model(model)}.${encodeToken(replica)}`;
  }

  /** Tokens and Finish for one gateway. */
  gateway(gateway: string): string {
    return `${this.ns}.gw.${encodeToken(gateway)}`;
  }

  beacon(model: string): string {
    return `${this.ns}.beacon.${encodeToken(model)}`;
  }

  /** Every beacon of the namespace (a wildcard subject). */
  allBeacons(): string {
    return `${this.ns}.beacon.*`;
  }

  heartbeat(model: string, replica: string): string {
    return `${this.ns}.hb.${encodeToken(model)}.${encodeToken(replica)}`;
  }

  /** Every heartbeat of the namespace (a wildcard subject). */
  allHeartbeats(): string {
    return `${this.ns}.hb.>`;
  }

  /** Records of the steps of a model, where the deployment records. */
  record(model: string): string {
    return `${this.ns}.record.${encodeToken(model)}`;
  }

  /** Every record of the namespace (a wildcard subject). */
  allRecords(): string {
    return `${this.ns}.record.*`;
  }

  /** An inbox below which each tag is a subject of its own. */
  inbox(role: InboxRole, id: string, tag: string): string {
    return `${this.ns}.inbox.${role}.${encodeToken(id)}.${encodeToken(tag)}`;
  }

  /** Everything sent to an inbox (a wildcard subject). */
  allInbox(role: InboxRole, id: string): string {
    return `${this.ns}.inbox.${role}.${encodeToken(id)}.*`;
  }
}

/** The last token of a subject, as built by {@link encodeToken}. */
export function lastToken(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}
