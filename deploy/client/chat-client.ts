import { z } from 'zod';
import { TokenrailError, isErrorCode } from '../../core/errors.ts';
import { sseData } from './sse.ts';

/** Where requests go. */
export interface ChatServer {
  /** Base URL without `/v1`. */
  url: string;
  apiKey?: string | undefined;
}

export interface ChatMessage {
  role: 'user' | 'assistant';
  content: string;
}

/** A request body without what the client fills in. */
export interface ChatRequest {
  model: string;
  messages: readonly ChatMessage[];
  router?: string;
  max_tokens?: number;
  temperature?: number;
}

/** A token's text, empty while it is held back, and the model that wrote it. */
export interface Token {
  text: string;
  model: string;
}

export interface ChatUsage {
  promptTokens: number;
  completionTokens: number;
  tokensByModel: Readonly<Record<string, number>>;
  handoffs: number;
  llmRatio: number;
}

const errorBody = z.object({ error: z.object({ message: z.string(), code: z.string().nullish() }) });

const usageShape = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  tokenrail: z
    .object({
      tokens_by_model: z.record(z.string(), z.number()),
      handoffs: z.number(),
      llm_ratio: z.number(),
    })
    .optional(),
});

const chunkShape = z.object({
  choices: z.array(
    z.object({
      delta: z.object({ content: z.string().nullish() }).optional(),
      tokenrail: z.object({ models: z.array(z.string()), texts: z.array(z.string()) }).optional(),
    }),
  ),
  usage: usageShape.nullish(),
});

const readinessShape = z.object({ models: z.record(z.string(), z.unknown()) });

const modelsShape = z.object({ data: z.array(z.object({ id: z.string() })).min(1) });

function errorFrom(text: string, status: number): TokenrailError {
  try {
    const { error } = errorBody.parse(JSON.parse(text));
    return new TokenrailError(isErrorCode(error.code) ? error.code : 'internal', error.message);
  } catch {
    return new TokenrailError('internal', `the server answered ${status}: ${text.slice(0, 200)}`);
  }
}

async function send(server: ChatServer, path: string, init: RequestInit): Promise<Response> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (server.apiKey !== undefined) headers['authorization'] = `Bearer ${server.apiKey}`;
  let response: Response;
  try {
    response = await fetch(server.url + path, { ...init, headers });
  } catch (thrown) {
    if (init.signal?.aborted === true) throw new TokenrailError('cancelled', 'cancelled', { cause: thrown });
    throw new TokenrailError(
      'model_unavailable',
      `no server answers at ${server.url}; start one with "npx tokenrail serve" or name another with --url`,
      {
        cause: thrown,
      },
    );
  }
  if (!response.ok) throw errorFrom(await response.text(), response.status);
  return response;
}

/** The first name the server serves. @throws TokenrailError `model_unavailable` where there is no server */
export async function servedModel(server: ChatServer): Promise<string> {
  const response = await send(server, '/v1/models', { method: 'GET' });
  const parsed = modelsShape.safeParse(await response.json().catch(() => undefined));
  if (parsed.success) return parsed.data.data[0]?.id ?? '';
  throw new TokenrailError('model_unavailable', `${server.url} is no OpenAI-compatible server`);
}

/** The models behind the served name, in the deployment's order; empty where the server does not tell. */
export async function deployedModels(server: ChatServer): Promise<string[]> {
  try {
    const response = await fetch(`${server.url}/health/ready`, { signal: AbortSignal.timeout(2000) });
    return Object.keys(readinessShape.parse(await response.json()).models);
  } catch {
    return [];
  }
}

function readUsage(usage: z.output<typeof usageShape>): ChatUsage {
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    tokensByModel: usage.tokenrail?.tokens_by_model ?? {},
    handoffs: usage.tokenrail?.handoffs ?? 0,
    llmRatio: usage.tokenrail?.llm_ratio ?? 0,
  };
}

/** The tokens of one chunk. A server that does not say who wrote them gives one nameless token. */
function readTokens(choice: z.output<typeof chunkShape>['choices'][number]): Token[] {
  const { tokenrail, delta } = choice;
  const content = delta?.content ?? '';
  if (tokenrail === undefined) return content === '' ? [] : [{ text: content, model: '' }];
  const tokens = tokenrail.models.map((model, i) => ({ model, text: tokenrail.texts[i] ?? '' }));
  // Text that was held back to the end belongs to no token of this chunk.
  const rest = content.slice(tokens.reduce((length, token) => length + token.text.length, 0));
  return rest === '' ? tokens : [...tokens, { text: rest, model: tokens.at(-1)?.model ?? '' }];
}

async function readStream(
  response: Response,
  onTokens: (tokens: readonly Token[]) => void,
): Promise<ChatUsage | undefined> {
  let usage: ChatUsage | undefined;
  for await (const data of sseData(response.body as unknown as AsyncIterable<Uint8Array>)) {
    if (data === '[DONE]') return usage;
    const parsed = chunkShape.safeParse(JSON.parse(data));
    if (!parsed.success) throw errorFrom(data, response.status);
    if (parsed.data.usage) usage = readUsage(parsed.data.usage);
    for (const choice of parsed.data.choices) onTokens(readTokens(choice));
  }
  throw new TokenrailError('model_unavailable', 'the server ended the stream before the answer was complete');
}

/**
 * Streams one answer; `onTokens` gets the tokens as they come. Resolves with the usage.
 * @throws TokenrailError the server's error, `model_unavailable` without a server, `cancelled` by the signal
 */
export async function streamChat(
  server: ChatServer,
  request: ChatRequest,
  onTokens: (tokens: readonly Token[]) => void,
  signal?: AbortSignal,
): Promise<ChatUsage | undefined> {
  const body = JSON.stringify({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
    return_token_ids: true,
  });
  const response = await send(server, '/v1/chat/completions', {
    method: 'POST',
    body,
    ...(signal ? { signal } : {}),
  });
  try {
    return await readStream(response, onTokens);
  } catch (thrown) {
    if (signal?.aborted === true) throw new TokenrailError('cancelled', 'cancelled', { cause: thrown });
    if (thrown instanceof TokenrailError) throw thrown;
    throw new TokenrailError('model_unavailable', 'the server ended the stream', { cause: thrown });
  }
}
