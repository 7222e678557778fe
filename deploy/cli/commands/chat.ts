import { createInterface } from 'node:readline';
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { TokenrailError } from '../../../core/errors.ts';
import { deployedModels, servedModel, streamChat } from '../../client/chat-client.ts';
import type { ChatMessage, ChatRequest, ChatServer } from '../../client/chat-client.ts';
import { Palette, wantsColour } from '../../client/palette.ts';
import { shareLine } from '../../client/share-line.ts';

interface ChatOptions {
  url: string;
  apiKey?: string;
  router?: string;
  maxTokens?: string;
  temperature?: string;
  history?: boolean;
}

function numberOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new TokenrailError('config_invalid', `${name}: expected a number (got "${text}")`, { param: name });
}

/** Asks questions and prints answers as they come. */
class Chat {
  private readonly server: ChatServer;
  private readonly base: Omit<ChatRequest, 'messages'>;
  private readonly palette: Palette;
  private readonly keepsHistory: boolean;
  private readonly history: ChatMessage[] = [];

  constructor(
    server: ChatServer,
    base: Omit<ChatRequest, 'messages'>,
    palette: Palette,
    keepsHistory: boolean,
  ) {
    this.palette = palette;
    this.server = server;
    this.base = base;
    this.keepsHistory = keepsHistory;
  }

  async ask(question: string, signal?: AbortSignal): Promise<void> {
    const messages: ChatMessage[] = [...this.history, { role: 'user', content: question }];
    let answer = '';
    const usage = await streamChat(
      this.server,
      { ...this.base, messages },
      (tokens) => {
        for (const { model, text } of tokens) {
          answer += text;
          process.stdout.write(this.palette.paint(model, text));
        }
      },
      signal,
    );
    process.stdout.write('\n');
    // The summary is for people: a pipe gets the answer and nothing else.
    if (usage !== undefined)
      process.stderr.write(`${this.palette.dim('—')} ${shareLine(usage, this.palette)}\n`);
    if (this.keepsHistory)
      this.history.push({ role: 'user', content: question }, { role: 'assistant', content: answer });
  }
}

/** Questions typed at a terminal, until end of file. Ctrl-C ends the answer, or the chat where there is none. */
async function converse(chat: Chat): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
  let running: AbortController | undefined;
  terminal.on('SIGINT', () => (running === undefined ? terminal.close() : running.abort()));
  terminal.prompt();
  for await (const line of terminal) {
    if (line.trim() !== '') {
      running = new AbortController();
      await chat
        .ask(line, running.signal)
        .catch((error: TokenrailError) => process.stderr.write(`\n${error.code}: ${error.message}\n`));
      running = undefined;
    }
    terminal.prompt();
  }
  process.stdout.write('\n');
}

/** `tokenrail chat` */
export async function chat(command: Command): Promise<void> {
  const options = command.opts<ChatOptions>();
  const apiKey = options.apiKey ?? (process.env['TOKENRAIL_API_KEY']?.split(',')[0] || undefined);
  const server: ChatServer = { url: options.url.replace(/\/+$/, '').replace(/\/v1$/, ''), apiKey };
  const maxTokens = numberOption('--max-tokens', options.maxTokens);
  const temperature = numberOption('--temperature', options.temperature);
  const base = {
    model: await servedModel(server),
    ...(options.router === undefined ? {} : { router: options.router }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  };
  const palette = new Palette(wantsColour(process.stdout), await deployedModels(server));
  const session = new Chat(server, base, palette, options.history === true);
  const question = command.args.join(' ').trim();
  if (question !== '') return session.ask(question);
  if (process.stdin.isTTY) return converse(session);
  const piped = (await readAll(process.stdin)).trim();
  if (piped === '')
    throw new TokenrailError('invalid_request', 'no question: give one as an argument or on standard input');
  return session.ask(piped);
}
