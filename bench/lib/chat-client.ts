import { Agent, request } from 'node:http';

/** What `return_token_ids` adds to an answer, and the rest of it that the benchmarks read. */
export interface ChatAnswer {
  text: string;
  promptIds: number[];
  ids: number[];
  /** Name of the model that wrote each token. */
  models: string[];
  signals: number[];
  finishReason: string;
  tokensByModel: Record<string, number>;
  handoffs: number;
  latencyMs: number;
}

interface ChatBody {
  choices: {
    message: { content: string };
    finish_reason: string;
    token_ids: number[];
    tokenrail: { models: string[]; signals: number[] };
  }[];
  prompt_token_ids: number[];
  usage: { tokenrail: { tokens_by_model: Record<string, number>; handoffs: number } };
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

function post(url: string, body: object): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      },
    );
    call.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close an idle connection in the moment in which it is taken up again.
      const isStale = call.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      if (isStale) post(url, body).then(resolve, reject);
      else reject(error);
    });
    call.end(JSON.stringify(body));
  });
}

/** One whole chat completion. `options` are further fields of the request. @throws Error on any other status than 200 */
export async function chat(url: string, question: string, options: object = {}): Promise<ChatAnswer> {
  const startedMs = performance.now();
  const messages = [{ role: 'user', content: question }];
  const body = { model: 'tokenrail', messages, return_token_ids: true, ...options };
  const { status, text } = await post(`${url}/v1/chat/completions`, body);
  if (status !== 200) throw new Error(`HTTP ${status}: ${text}`);
  const answer = JSON.parse(text) as ChatBody;
  const choice = answer.choices[0];
  if (!choice) throw new Error('an answer without choices');
  return {
    text: choice.message.content,
    promptIds: answer.prompt_token_ids,
    ids: choice.token_ids,
    models: choice.tokenrail.models,
    signals: choice.tokenrail.signals,
    finishReason: choice.finish_reason,
    tokensByModel: answer.usage.tokenrail.tokens_by_model,
    handoffs: answer.usage.tokenrail.handoffs,
    latencyMs: performance.now() - startedMs,
  };
}

/** Runs `work` for every item, `concurrency` at a time; results in the order of the items. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await work(items[index] as T, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return results;
}
