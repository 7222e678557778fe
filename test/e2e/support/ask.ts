import { sseData } from '../../../deploy/client/sse.ts';

export const question =
  'There are 28 peaches on the table of Willa. Willa finds 2 bags of 9 peaches. How many peaches does Willa own now?';

export interface Answer {
  choices: { message: { content: string }; finish_reason: string }[];
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    tokenrail: { tokens_by_model: Record<string, number>; handoffs: number; llm_ratio: number };
  };
}

const body = (extra: object): string =>
  JSON.stringify({ model: 'tokenrail', messages: [{ role: 'user', content: question }], ...extra });

export function post(url: string, extra: object = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: body(extra) });
}

export async function ask(url: string, extra: object = {}): Promise<Answer> {
  const response = await post(url, extra);
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

export interface Chunk {
  choices: { delta: { content?: string }; finish_reason: string | null }[];
  usage?: Answer['usage'] | null;
  error?: { message: string; code: string };
}

/** A stream that is read as it comes. */
export class Stream {
  readonly chunks: Chunk[] = [];
  isDone = false;
  /** Resolves when the stream is over, by `[DONE]` or by its connection. */
  readonly over: Promise<void>;

  constructor(response: Response) {
    this.over = this.read(response);
  }

  get text(): string {
    return this.chunks.map((chunk) => chunk.choices?.[0]?.delta.content ?? '').join('');
  }

  get finishReason(): string | undefined {
    return this.chunks
      .map((chunk) => chunk.choices?.[0]?.finish_reason)
      .find((reason) => typeof reason === 'string');
  }

  get error(): Chunk['error'] {
    return this.chunks.find((chunk) => chunk.error !== undefined)?.error;
  }

  private async read(response: Response): Promise<void> {
    try {
      for await (const data of sseData(response.body as unknown as AsyncIterable<Uint8Array>)) {
        if (data === '[DONE]') this.isDone = true;
        else this.chunks.push(JSON.parse(data) as Chunk);
      }
    } catch {
      // The connection was cut; what came before counts.
    }
  }
}

export async function openStream(url: string, extra: object = {}): Promise<Stream> {
  const response = await post(url, { stream: true, stream_options: { include_usage: true }, ...extra });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return new Stream(response);
}
