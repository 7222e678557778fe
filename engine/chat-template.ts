import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TokenrailError } from '../core/errors.ts';
import { parseJinja, type JinjaProgram } from './jinja-library.ts';
import { isJsonObject, readOptionalJsonFile, readTextFile, type JsonObject } from './json-file.ts';
import { END_MARK } from './special-text.ts';
import { isReserved, templateGlobals, TemplateRefusal } from './template-globals.ts';

/** A message as templates know it; further fields such as `name` are passed on. */
export interface TemplateMessage {
  readonly role: string;
  readonly content: string;
  readonly [field: string]: unknown;
}

export interface RenderOptions {
  /**
   * Makes the control tokens in a client's text harmless: the tokenizer's `disarm`. It treats every text of the
   * messages, tools and variables; only roles stay, since templates make control tokens of them.
   */
  disarm: (text: string) => string;
  /** Wall-clock time for templates that show the date, in milliseconds since the epoch. */
  epochMs: number;
  /** Whether the assistant's turn is opened. Default true, false with `continueFinalMessage`. */
  addGenerationPrompt?: boolean;
  /** Whether the text ends where the last message ends, so that the answer continues it. Default false. */
  continueFinalMessage?: boolean;
  /** Default none. */
  tools?: readonly unknown[];
  /** Further variables. */
  variables?: Readonly<Record<string, unknown>>;
}

const TOKEN_NAMES = [
  'bos_token',
  'eos_token',
  'unk_token',
  'pad_token',
  'sep_token',
  'cls_token',
  'mask_token',
];

/** The chat template of a checkpoint: turns a conversation into the text the model was trained on. */
export class ChatTemplate {
  readonly #programs: ReadonlyMap<string, JinjaProgram>;
  readonly #specialTokens: Readonly<Record<string, string>>;

  /** Use {@link loadChatTemplate}. */
  constructor(programs: ReadonlyMap<string, JinjaProgram>, specialTokens: Readonly<Record<string, string>>) {
    this.#programs = programs;
    this.#specialTokens = specialTokens;
  }

  /**
   * The conversation as text, to be encoded with `parseSpecial: true, addSpecialTokens: false`.
   * @throws TokenrailError `invalid_request` with the template's message where the template refuses or fails
   */
  render(messages: readonly TemplateMessage[], options: RenderOptions): string {
    const { continueFinalMessage = false, addGenerationPrompt = !continueFinalMessage, tools = [] } = options;
    if (continueFinalMessage && addGenerationPrompt) {
      throw refuse(
        'continue_final_message and add_generation_prompt exclude each other.',
        'continue_final_message',
      );
    }
    const shown = messages.map((message, index) => disarmMessage(message, index, options.disarm));
    const last = shown.at(-1);
    if (continueFinalMessage && last !== undefined)
      shown[shown.length - 1] = { ...last, content: `${last.content}${END_MARK} ` };
    const text = this.#run(tools.length > 0, {
      ...this.#specialTokens,
      ...checkedVariables(options),
      ...templateGlobals(options.epochMs),
      messages: shown,
      tools: tools.length > 0 ? disarmDeep(tools, options.disarm) : null,
      documents: null,
      add_generation_prompt: addGenerationPrompt,
    });
    return continueFinalMessage ? cutAtMark(text) : text;
  }

  #run(hasTools: boolean, variables: Readonly<Record<string, unknown>>): string {
    const named = hasTools ? this.#programs.get('tool_use') : undefined;
    const program = named ?? this.#programs.get('default') ?? [...this.#programs.values()][0];
    if (program === undefined) throw refuse('The model has no chat template.');
    try {
      return program.render(variables);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const prefix =
        cause instanceof TemplateRefusal
          ? 'The chat template refused the messages'
          : 'The chat template failed';
      throw new TokenrailError('invalid_request', `${prefix}: ${why}`, { cause, param: 'messages' });
    }
  }
}

/**
 * Loads `chat_template.jinja`, or `chat_template` of tokenizer_config.json (a text, or a list of named ones: `default`,
 * and `tool_use` where tools are given).
 * @returns undefined where the checkpoint has none
 * @throws TokenrailError `checkpoint_invalid` naming the file
 */
export function loadChatTemplate(dir: string): ChatTemplate | undefined {
  const configPath = join(dir, 'tokenizer_config.json');
  const config = readOptionalJsonFile(configPath) ?? {};
  const map = readOptionalJsonFile(join(dir, 'special_tokens_map.json')) ?? {};
  const jinjaPath = join(dir, 'chat_template.jinja');
  const sources = existsSync(jinjaPath)
    ? new Map([['default', readTextFile(jinjaPath)]])
    : templatesOf(config.chat_template, configPath);
  if (sources.size === 0) return undefined;
  const path = existsSync(jinjaPath) ? jinjaPath : configPath;
  const programs = new Map([...sources].map(([name, source]) => [name, parse(source, name, path)]));
  return new ChatTemplate(programs, specialTokens({ ...map, ...config }));
}

function templatesOf(value: unknown, path: string): Map<string, string> {
  if (value === undefined || value === null) return new Map();
  if (typeof value === 'string') return new Map([['default', value]]);
  const entries: unknown[] = Array.isArray(value) ? value : [value];
  return new Map(
    entries.map((entry) => {
      if (isJsonObject(entry) && typeof entry.name === 'string' && typeof entry.template === 'string') {
        return [entry.name, entry.template];
      }
      throw new TokenrailError(
        'checkpoint_invalid',
        `${path}: chat_template is neither a text nor a list of {name, template}`,
      );
    }),
  );
}

function parse(source: string, name: string, path: string): JinjaProgram {
  try {
    return parseJinja(source);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TokenrailError(
      'checkpoint_invalid',
      `${path}: the chat template "${name}" cannot be parsed: ${why}`,
      { cause },
    );
  }
}

function specialTokens(config: JsonObject): Record<string, string> {
  const found = TOKEN_NAMES.flatMap((name) => {
    const value = config[name];
    const content = isJsonObject(value) ? value.content : value;
    return typeof content === 'string' ? [[name, content] as const] : [];
  });
  return Object.fromEntries(found);
}

function checkedVariables({ variables = {}, disarm }: RenderOptions): Record<string, unknown> {
  const reserved = Object.keys(variables).find(isReserved);
  if (reserved !== undefined)
    throw refuse(`The template variable "${reserved}" is reserved.`, `chat_template_kwargs.${reserved}`);
  return disarmDeep(variables, disarm) as Record<string, unknown>;
}

function disarmMessage(
  message: TemplateMessage,
  index: number,
  disarm: RenderOptions['disarm'],
): TemplateMessage {
  if (!/^\w+$/.test(message.role)) throw refuse('A role is a single word.', `messages[${index}].role`);
  const { role, content, ...rest } = message;
  return { ...(disarmDeep(rest, disarm) as JsonObject), role, content: disarm(content) };
}

function disarmDeep(value: unknown, disarm: RenderOptions['disarm']): unknown {
  if (typeof value === 'string') return disarm(value);
  if (Array.isArray(value)) return value.map((item) => disarmDeep(item, disarm));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [disarm(key), disarmDeep(item, disarm)]),
  );
}

/** Where the template trims the message, the space behind the mark is gone too, and the text ends trimmed. */
function cutAtMark(text: string): string {
  const at = text.lastIndexOf(END_MARK);
  if (at === -1)
    throw refuse(
      'The chat template does not show the last message, so it cannot be continued.',
      'continue_final_message',
    );
  return text.startsWith(`${END_MARK} `, at) ? text.slice(0, at) : text.slice(0, at).trimEnd();
}

function refuse(message: string, param = 'messages'): TokenrailError {
  return new TokenrailError('invalid_request', message, { param });
}
