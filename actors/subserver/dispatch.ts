import type { BusMessage } from '../../transport/bus.ts';
import { decodeFrame } from '../../transport/codec.ts';
import type { Beacon, Message } from '../../transport/messages.ts';
import type { ClientLoop } from './client-loop.ts';
import type { SubserverContext } from './context.ts';
import type { InterModelLoop } from './inter-model-loop.ts';
import type { SelfScheduling } from './self-scheduling.ts';

/** Who handles what. */
export interface DispatchTargets {
  clients: ClientLoop;
  peers: InterModelLoop;
  scheduling: SelfScheduling;
  onProbe: (reply: string) => void;
}

/** From a bus message to the loop that handles it: the only place here that knows message kinds by name. */
export class Dispatcher {
  private readonly context: SubserverContext;
  private readonly clients: ClientLoop;
  private readonly peers: InterModelLoop;
  private readonly scheduling: SelfScheduling;
  private readonly onProbe: (reply: string) => void;

  constructor(context: SubserverContext, { clients, peers, scheduling, onProbe }: DispatchTargets) {
    this.context = context;
    this.clients = clients;
    this.peers = peers;
    this.scheduling = scheduling;
    this.onProbe = onProbe;
  }

  /** Never throws: a throw would end the read loop of the bus. */
  receive(message: BusMessage): void {
    try {
      if (message.isNoResponders) this.nobodyListens(message);
      else {
        const { messages, dropped } = decodeFrame(message.payload);
        if (dropped > 0) this.context.counters.add('dropped_messages', dropped);
        for (const one of messages) this.handleAlone(one, message.reply);
      }
    } catch (thrown) {
      this.context.counters.add('dropped_messages');
      this.context.logger.error({ err: thrown, subject: message.subject }, 'a frame could not be handled');
    }
    this.context.outbox.flush();
  }

  /** A frame carries messages of many requests: what one of them breaks must not cost the others. */
  private handleAlone(message: Message, reply: string | undefined): void {
    try {
      this.handle(message, reply);
    } catch (thrown) {
      this.context.counters.add('dropped_messages');
      this.context.logger.error({ err: thrown, kind: message.kind }, 'a message could not be handled');
    }
  }

  private nobodyListens(message: BusMessage): void {
    const destination = this.context.inboxes.destinationOf(message.subject);
    if (destination) this.peers.peerGone(destination.model, destination.replica);
    else this.context.counters.add('stale_messages');
  }

  private handle(message: Message, reply: string | undefined): void {
    switch (message.kind) {
      case 'admit':
        return this.clients.admit(message, reply);
      case 'abort':
        return this.clients.abort(message);
      case 'peer-req':
        return this.peers.peerReq(message, reply);
      case 'progress':
        return this.peers.progress(message);
      case 'admitted':
        return this.peers.admitted(message);
      case 'reject':
        return this.peers.reject(message);
      case 'release':
        return this.peers.release(message);
      case 'needs-prefix':
        return message.from === 0 ? this.clients.resync(message) : this.peers.needsPrefix(message);
      case 'beacon':
        return this.hearBeacon(message);
      case 'plan':
        return this.scheduling.receive(message);
      case 'probe':
        if (reply !== undefined) this.onProbe(reply);
        return;
      case 'tokens':
      case 'finish':
      case 'heartbeat':
      case 'step-record':
      case 'record-end':
        this.context.counters.add('dropped_messages'); // not for a subserver
    }
  }

  /** A model that the deployment does not have would take part in every decision here. */
  private hearBeacon(message: Beacon): void {
    const { beacons, counters, options } = this.context;
    if (options.deployment.models.some(({ id }) => id === message.model)) beacons.receive(message);
    else counters.add('dropped_messages');
  }
}
