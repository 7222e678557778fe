import { decodeFrame } from '../../transport/codec.ts';
import type { PeerReq } from '../../transport/messages.ts';
import type { SimDeployment } from './sim-deployment.ts';

/** Listens to all handoffs of a deployment and collects what must not be. */
export class VisitWatch {
  readonly faults: string[] = [];
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
    const { rid, term, hop, from, to, loc, home, locs = [] } = message;
    this.numHandoffs += 1;
    // Within a term nobody forgets: neither the sequence nor what is known of others gets shorter.
    const known = [{ model: from, loc }, ...locs.filter((one) => one.loc > 0)];
    for (const one of known) this.grow(`${rid}/${term}: model ${from} about ${one.model}`, one.loc);
    const arrival = this.arrivals.get(`${rid}/${term}/${hop - 1}`);
    const isVisit = arrival?.to === from && from !== home.model;
    if (isVisit && loc <= arrival.loc) this.faults.push(`${rid}: a visit of model ${from} wrote nothing`);
    if (to !== home.model) this.arrivals.set(`${rid}/${term}/${hop}`, message);
  }

  private grow(what: string, length: number): void {
    const before = this.lengths.get(what) ?? 0;
    if (length < before) this.faults.push(`${what} shrank from ${before} to ${length}`);
    this.lengths.set(what, length);
  }
}
