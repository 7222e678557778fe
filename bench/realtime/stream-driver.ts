import type { Bus } from '../../transport/bus.ts';
import { encodeClientObject } from '../../transport/client-codec.ts';
import { lastToken, Subjects } from '../../transport/subjects.ts';
import type { BenchRequest, Driver, RequestSink } from '../baselines/driver.ts';

interface Chunk {
  choices?: { token_ids?: number[]; tokenrail?: { models: string[] } }[];
  error?: { code: string; message: string };
}

/** Below this the answers arrive, each request at a subject of its own. */
const INBOX = 'bench-client';

/** A client of a running deployment: completions over NATS, streamed, through the gateway. */
export class StreamDriver implements Driver {
  readonly name = 'stream';
  private readonly bus: Bus;
  private readonly modelNames: readonly string[];
  private readonly requests: string;

  constructor(bus: Bus, namespace: string, modelNames: readonly string[]) {
    this.bus = bus;
    this.modelNames = modelNames;
    this.requests = new Subjects(namespace).requests();
  }

  async start(sink: RequestSink): Promise<void> {
    this.bus.subscribe(`${INBOX}.*`, ({ subject, payload, isNoResponders }) => {
      const id = Number(lastToken(subject));
      if (isNoResponders) sink.onEnd(id, 'no gateway listens');
      else if (payload.byteLength === 0) sink.onEnd(id);
      else this.chunk(id, payload, sink);
    });
    await this.bus.flush();
  }

  submit({ id, tokens, maxTokens, sampling }: BenchRequest): void {
    const request = {
      model: 'tokenrail',
      prompt: tokens,
      max_tokens: maxTokens,
      ignore_eos: true,
      temperature: 0,
      seed: sampling.seed,
      stream: true,
      return_token_ids: true,
    };
    this.bus.publish(this.requests, encodeClientObject(request, 'json'), { reply: `${INBOX}.${id}` });
  }

  close(): Promise<void> {
    return this.bus.close();
  }

  private chunk(id: number, payload: Uint8Array, sink: RequestSink): void {
    const { choices, error } = JSON.parse(new TextDecoder().decode(payload)) as Chunk;
    if (error) {
      sink.onEnd(id, `${error.code}: ${error.message}`);
      return;
    }
    const [choice] = choices ?? [];
    if (!choice?.token_ids?.length) return;
    const names = choice.tokenrail?.models ?? [];
    sink.onTokens(
      id,
      choice.token_ids,
      names.map((name) => this.modelNames.indexOf(name) + 1),
    );
  }
}
