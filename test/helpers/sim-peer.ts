import type { SimulatedBus } from '../../simulation/index.ts';
import { decodeFrame, encodeFrame } from '../../transport/codec.ts';
import type { Message, MessageKind, PeerReq } from '../../transport/messages.ts';
import type { SimDeployment } from './sim-deployment.ts';

/** A party that speaks the protocol by hand: hears everything on its subjects, says what a test tells it to. */
export class SimPeer {
  readonly heard: Message[] = [];
  readonly bus: SimulatedBus;
  private readonly sim: SimDeployment;

  constructor(sim: SimDeployment, name: string, subjects: readonly string[]) {
    this.sim = sim;
    this.bus = sim.network.connect(name);
    for (const subject of subjects) {
      this.bus.subscribe(subject, ({ payload }) => this.heard.push(...decodeFrame(payload).messages));
    }
  }

  of<K extends MessageKind>(kind: K): Extract<Message, { kind: K }>[] {
    return this.heard.filter((message): message is Extract<Message, { kind: K }> => message.kind === kind);
  }

  say(subject: string, ...messages: Message[]): void {
    this.bus.publish(subject, encodeFrame(messages), {
      reply: this.sim.subjects.inbox('gateway', 'peer', 'x'),
    });
  }
}

/** A handoff of `req-1` from a home `small.fake` to the large model; the whole sequence unless changed. */
export function handoffToGuest(sim: SimDeployment, change: Partial<PeerReq> = {}): PeerReq {
  return {
    kind: 'peer-req',
    rid: 'req-1',
    term: 0,
    hop: 1,
    from: 1,
    fromReplica: 'fake',
    to: 2,
    suffix: [5, 6, 7],
    loc: 3,
    home: { model: 1, replica: 'fake' },
    init: sim.init(3, { maxTokens: 50 }),
    ...change,
  };
}
