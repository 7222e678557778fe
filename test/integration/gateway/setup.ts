import { fileURLToPath } from 'node:url';
import { startGateway, type Gateway, type GatewayOptions } from '../../../actors/gateway/index.ts';
import type { Clock } from '../../../core/clock.ts';
import { silentLogger } from '../../../core/log.ts';
import { SystemClock } from '../../../core/system-clock.ts';
import { loadTokenizer } from '../../../engine/tokenizer.ts';
import { deployment } from '../../helpers/gateway-deployment.ts';
import { LocalBroker, type LocalBus } from '../../helpers/local-bus.ts';
import { ScriptedHome, type ScriptedHomeOptions } from '../../helpers/scripted-home.ts';

export { deployment };

export const tokenizerDir = fileURLToPath(new URL('../../../models/small', import.meta.url));
export const tokenizer = loadTokenizer(tokenizerDir);

/** The checkpoint's end token. */
export const EOS = 1;

const byteIds = new Map<number, number>();
for (let id = 0; id < tokenizer.size; id += 1) {
  const bytes = tokenizer.tokenBytes(id);
  if (bytes.length === 1 && !tokenizer.isSpecial(id)) byteIds.set(bytes[0] ?? 0, id);
}

/** A text as tokens of one byte each: the hardest way to spell it. */
export function bytesAsIds(text: string): number[] {
  return [...Buffer.from(text, 'utf8')].map((byte) => {
    const id = byteIds.get(byte);
    if (id === undefined) throw new Error(`the tokenizer has no token for byte ${byte}`);
    return id;
  });
}

export interface Served {
  broker: LocalBroker;
  bus: LocalBus;
  home: ScriptedHome;
  gateway: Gateway;
  url: string;
  /** A new connection to the broker. */
  connect(): LocalBus;
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  chat(body: Record<string, unknown>, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

export interface ServeOptions {
  gateway?: Partial<GatewayOptions>;
  home?: Partial<ScriptedHomeOptions>;
  clock?: Clock;
}

let numServed = 0;

/** A gateway on a free port, with one scripted home behind it. */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const broker = new LocalBroker();
  const bus = broker.connect();
  numServed += 1;
  const gateway = await startGateway(gatewayOptions(options.gateway), {
    bus,
    clock: options.clock ?? new SystemClock(),
    logger: silentLogger,
    random: makeRandom(numServed),
  });
  const home = new ScriptedHome(broker.connect(), {
    deployment: options.gateway?.deployment ?? deployment,
    answer: () => [...bytesAsIds('Hello there.'), EOS],
    ...options.home,
  });
  await home.start();
  const { url } = gateway;
  const post: Served['post'] = (path, body, init = {}) =>
    fetch(url + path, {
      method: 'POST',
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      ...init,
      headers: {
        'content-type': 'application/json',
        ...(init.headers as Record<string, string> | undefined),
      },
    });
  return {
    broker,
    bus,
    home,
    gateway,
    url,
    connect: () => broker.connect(),
    post,
    chat: (body, init) =>
      post('/v1/chat/completions', { model: 'tokenrail', messages: [hello], ...body }, init),
    stop: async () => {
      home.stop();
      await gateway.close();
    },
  };
}

export const hello = { role: 'user', content: 'Hi' };

export function gatewayOptions(fields: Partial<GatewayOptions> = {}): GatewayOptions {
  return {
    id: 'gw1',
    deployment,
    configHash: 'hash',
    servedModelNames: ['tokenrail', 'pair'],
    tokenizerDir,
    eosIds: [EOS],
    defaultSampling: { temperature: 0, topP: 1, topK: -1, minP: 0 },
    port: 0,
    // A test that does not speak of silence must not be disturbed by a busy machine.
    heartbeatStaleMs: 60_000,
    ...fields,
  };
}

/** Ids only need to differ. */
function makeRandom(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return state / 2 ** 32;
  };
}

export interface SseEvent {
  data?: Record<string, unknown>;
  done?: true;
  comment?: string;
}

/** The events of a finished SSE body, in order; throws on anything that is not one. */
export function parseSse(text: string): SseEvent[] {
  if (!text.endsWith('\n\n')) throw new Error('the stream does not end with an empty line');
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((block) => {
      if (block.startsWith(': ')) return { comment: block.slice(2) };
      if (!block.startsWith('data: ') || block.includes('\n')) throw new Error(`not an event: ${block}`);
      const data = block.slice(6);
      return data === '[DONE]' ? { done: true } : { data: JSON.parse(data) as Record<string, unknown> };
    });
}

export interface Choice {
  index: number;
  text?: string;
  delta?: { role?: string; content?: string };
  message?: { role: string; content: string };
  finish_reason: string | null;
  stop_reason?: string | null;
  token_ids?: number[];
  prompt_token_ids?: number[];
  tokenrail?: { models: string[]; signals: (number | null)[]; texts: string[] };
}

/** The first choice of an answer object or chunk. */
export function choiceOf(object: unknown): Choice {
  const choice = (object as { choices: Choice[] }).choices[0];
  if (choice === undefined) throw new Error('no choice');
  return choice;
}

/** Text and reason of a streamed answer. */
export function readStream(text: string): {
  text: string;
  finishReason: string | null;
  chunks: Record<string, unknown>[];
} {
  const chunks = parseSse(text).flatMap(({ data }) => (data === undefined ? [] : [data]));
  const choices = chunks.filter((chunk) => (chunk['choices'] as unknown[] | undefined)?.length).map(choiceOf);
  return {
    text: choices.map((choice) => choice.delta?.content ?? choice.text ?? '').join(''),
    finishReason: choices.at(-1)?.finish_reason ?? null,
    chunks,
  };
}

/** Waits until `condition` holds; the test's own time limit bounds it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
