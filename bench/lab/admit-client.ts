import type { ModelId } from '../../core/request.ts';
import type { Bus } from '../../transport/bus.ts';
import { decodeFrame, encodeFrame } from '../../transport/codec.ts';
import type { Message, Tokens } from '../../transport/messages.ts';
import type { Subjects } from '../../transport/subjects.ts';
import type { BenchRequest, RequestSink } from '../baselines/driver.ts';

const GATEWAY = 'bench';

/**
 * Speaks a gateway's side of the protocol: Admit, Tokens, Finish. No HTTP, no text; nothing is repeated, since a bus
 * that loses messages would spoil the measurement anyway and shows as a failure.
 */
export class AdmitClient {
  private readonly bus: Bus;
  private readonly subjects: Subjects;
  private readonly home: string;
  private readonly router: string;
  private readonly numSeen = new Map<number, number>();
  private sink: RequestSink | undefined;

  constructor(bus: Bus, subjects: Subjects, names: { home: string; router: string }) {
    this.bus = bus;
    this.subjects = subjects;
    this.home = names.home;
    this.router = names.router;
  }

  async start(sink: RequestSink): Promise<void> {
    this.sink = sink;
    this.bus.subscribe(this.subjects.gateway(GATEWAY), ({ payload }) => this.receive(payload));
    this.bus.subscribe(this.subjects.allInbox('gateway', GATEWAY), ({ payload, isNoResponders, subject }) => {
      if (!isNoResponders) this.receive(payload);
      else this.end(Number(subject.slice(subject.lastIndexOf('.') + 1)), 'nobody serves the home model');
    });
    await this.bus.flush();
  }

  submit(request: BenchRequest): void {
    const { id, tokens, sampling, maxTokens, stopIds } = request;
    this.numSeen.set(id, 0);
    const init = {
      promptLen: tokens.length,
      sampling,
      limits: { maxTokens, stopIds },
      router: this.router,
    };
    const admit: Message = { kind: 'admit', rid: `req-${id}`, term: 0, tokens, init, gateway: GATEWAY };
    const reply = this.subjects.inbox('gateway', GATEWAY, String(id));
    this.bus.publish(this.subjects.model(this.home), encodeFrame([admit]), { reply });
  }

  private receive(payload: Uint8Array): void {
    for (const message of decodeFrame(payload).messages) {
      if (!('rid' in message)) continue;
      const id = Number(message.rid.slice('req-'.length));
      if (message.kind === 'tokens') this.tokens(id, message);
      else if (message.kind === 'reject') this.end(id, `refused: ${message.code}`);
      else if (message.kind === 'finish')
        this.end(id, message.reason === 'error' ? (message.error?.code ?? 'error') : undefined);
    }
  }

  private tokens(id: number, { position, ids, origins }: Tokens): void {
    const seen = this.numSeen.get(id);
    if (seen === undefined) return;
    if (position > seen) return this.end(id, `tokens ${seen} to ${position} were lost`);
    const fresh = ids.slice(seen - position);
    if (fresh.length === 0) return;
    this.numSeen.set(id, seen + fresh.length);
    const models: readonly ModelId[] = origins.models.slice(seen - position);
    this.sink?.onTokens(id, fresh, models);
  }

  private end(id: number, failure: string | undefined): void {
    if (this.numSeen.delete(id)) this.sink?.onEnd(id, failure);
  }
}
