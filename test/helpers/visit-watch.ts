import { decodeFrame } from '../../transport/codec.ts';
import type { PeerReq } from '../../transport/messages.ts';
import type { SimDeployment } from './sim-deployment.ts';

/** What one replica has said of one request. */
interface Said {
  /** Length of its sequence, by hop. */
  own: Map<number, number>;
  /** Longest length that it knows of each model. */
  known: Map<number, number>;
}

const newSaid = (): Said => ({ own: new Map(), known: new Map() });

/** Listens to all handoffs of a deployment and collects what must not be. */
export class VisitWatch {
  /** Visits of guests that ended without a token. */
  readonly idleVisits: string[] = [];
  /** Knowledge that was lost; to be expected only where replicas fail or lose their memory. */
  readonly shrunk: string[] = [];
  numHandoffs = 0;
  private readonly arrivals = new Map<string, PeerReq>();
  private readonly said = new Map<string, Said>();

  constructor({ network }: SimDeployment) {
    const route = network.route.bind(network);
    network.route = (from, subject, payload, reply) => {
      for (const message of decodeFrame(payload).messages) if (message.kind === 'peer-req') this.see(message);
      route(from, subject, payload, reply);
    };
  }

  private see(message: PeerReq): void {
    const { rid, term, hop, from, to, loc, home } = message;
    this.numHandoffs += 1;
    // Two homes may have taken the same request, until the client chooses one.
    const key = `${rid}@${home.replica}/${term}`;
    this.compare(`${key}: model ${from} ${message.fromReplica}`, message);
    const arrival = this.arrivals.get(`${key}/${hop - 1}`);
    const isVisit = arrival?.to === from && from !== home.model;
    if (isVisit && loc <= arrival.loc) this.idleVisits.push(`${key}: a visit of model ${from} wrote nothing`);
    if (to !== home.model) this.arrivals.set(`${key}/${hop}`, message);
  }

  /** Within a term nobody forgets: neither the own sequence nor what is known of others gets shorter. */
  private compare(who: string, { hop, loc, locs = [], finished }: PeerReq): void {
    const { own, known } = this.said.get(who) ?? newSaid();
    this.said.set(who, { own, known });
    // An old handoff that comes late is answered by a repeat: it says the length that it said before.
    for (const [other, length] of own)
      if (other <= hop ? length > loc : length < loc)
        this.shrunk.push(`${who} said ${loc} at hop ${hop}, and ${length} at hop ${other}`);
    own.set(hop, loc);
    // Repeats say what is known by now.
    for (const { model, loc: length } of locs.filter((one) => one.loc > 0)) {
      const before = known.get(model) ?? 0;
      if (length < before) this.shrunk.push(`${who} about ${model} shrank from ${before} to ${length}`);
      known.set(model, length);
    }
    // Whoever ends a request forgets it, and may get an old handoff once more.
    if (finished !== undefined) this.said.delete(who);
  }
}
