import { decodeFrame } from '../../transport/codec.ts';
import type { PeerReq } from '../../transport/messages.ts';
import type { SimDeployment } from './sim-deployment.ts';

/** Listens to all handoffs of a deployment and collects what must not be. */
export class VisitWatch {
  /** Visits of guests that ended without a token. */
  readonly idleVisits: string[] = [];
  /** Knowledge that was lost; to be expected only where replicas fail or lose their memory. */
  readonly shrunk: string[] = [];
  numHandoffs = 0;
  private readonly arrivals = new Map<string, PeerReq>();
  private readonly lengths = new Map<string, number>();

  constructor({ network }: SimDeployment) {
    const route = network.route.bind(network);
    network.route = (from, subject, payload, reply) => {
      for (const message of decodeFrame(payload).messages) if (message.kind === 'peer-req') this.see(message);
      route(from, subject, payload, reply);
    };
  }

  private see(message: PeerReq): void {
    const { rid, term, hop, from, fromReplica, to, loc, home, locs = [] } = message;
    this.numHandoffs += 1;
    // Two homes may have taken the same request, until the client chooses one.
    const key = `${rid}@${home.replica}/${term}`;
    // Within a term nobody forgets: neither the sequence nor what is known of others gets shorter. A repeat says its
    // old length again, and what is known by now.
    const known = locs.length === 0 ? [{ model: from, loc }] : locs.filter((one) => one.loc > 0);
    for (const one of known) this.grow(`${key}: model ${from} ${fromReplica} about ${one.model}`, one.loc);
    const arrival = this.arrivals.get(`${key}/${hop - 1}`);
    const isVisit = arrival?.to === from && from !== home.model;
    if (isVisit && loc <= arrival.loc) this.idleVisits.push(`${key}: a visit of model ${from} wrote nothing`);
    if (to !== home.model) this.arrivals.set(`${key}/${hop}`, message);
  }

  private grow(what: string, length: number): void {
    const before = this.lengths.get(what) ?? 0;
    if (length < before) this.shrunk.push(`${what} shrank from ${before} to ${length}`);
    this.lengths.set(what, length);
  }
}
