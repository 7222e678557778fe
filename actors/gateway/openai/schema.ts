import type { GenerationRequest, Prompt } from '../generation-request.ts';
import { chatFields, completionFields, type Fields } from './schema-fields.ts';
import { errorOf, invalid } from './schema-issue.ts';
import { readMessages } from './schema-messages.ts';
import { NEUTRAL_FIELDS, NEUTRAL_STREAM_OPTIONS, requireNeutral } from './schema-neutral.ts';
import { readPrompt } from './schema-prompt.ts';

/** How tokens are drawn where a request says nothing. */
export type SamplingDefaults = GenerationRequest['sampling'];

type Body = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Reads the body of `/v1/chat/completions` (`chat`) or `/v1/completions` (`completion`). Null means absent. Nothing
 * is ignored: a field that is not supported passes only with a value that asks for nothing.
 * @throws TokenrailError `invalid_request` or `unsupported_parameter`; `param` names the field as OpenAI does
 */
export function parseGenerationRequest(
  kind: GenerationRequest['kind'],
  body: unknown,
  defaults: SamplingDefaults,
): GenerationRequest {
  if (!isObject(body)) throw invalid('body', 'must be a JSON object');
  const given = withoutNulls(body);
  const fields = readFields(kind, given);
  const seed = fields.seed === undefined ? {} : { seed: fields.seed + 0 }; // −0 becomes 0
  const maxTokens = fields.max_completion_tokens ?? fields.max_tokens;
  return {
    kind,
    model: fields.model,
    prompt: kind === 'chat' ? readChat(given.messages, fields) : readPrompt(given.prompt),
    sampling: readSampling(fields, defaults),
    ...seed,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    stop: fields.stop ?? [],
    includeStopText: fields.include_stop_str_in_output ?? false,
    stopTokenIds: fields.stop_token_ids ?? [],
    ignoreEos: fields.ignore_eos ?? false,
    skipSpecialTokens: fields.skip_special_tokens ?? true,
    stream: fields.stream ?? false,
    includeUsage: readIncludeUsage(given.stream_options, fields.stream ?? false),
    returnTokenIds: fields.return_token_ids ?? false,
    ...(fields.router === undefined ? {} : { router: fields.router }),
    ...(fields.user === undefined ? {} : { user: fields.user }),
  };
}

/** A fresh object without a prototype: a body may hold a key such as `__proto__`. */
function withoutNulls(body: Body): Body {
  const given = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && value !== undefined) given[name] = value;
  }
  return given;
}

function readFields(kind: GenerationRequest['kind'], given: Body): Fields {
  const schema = kind === 'chat' ? chatFields : completionFields;
  const own = new Set([
    ...Object.keys(schema.shape),
    'stream_options',
    kind === 'chat' ? 'messages' : 'prompt',
  ]);
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!own.has(name)) requireNeutral(name, value, NEUTRAL_FIELDS);
    else if (Object.hasOwn(schema.shape, name)) known[name] = value;
  }
  const result = schema.safeParse(known);
  if (!result.success) throw errorOf(result.error);
  return result.data;
}

function readSampling(fields: Fields, defaults: SamplingDefaults): SamplingDefaults {
  const topK = fields.top_k ?? defaults.topK;
  return {
    temperature: fields.temperature ?? defaults.temperature,
    topP: fields.top_p ?? defaults.topP,
    topK: topK === 0 ? -1 : topK, // vLLM's other spelling of "off"
    minP: fields.min_p ?? defaults.minP,
  };
}

function readChat(messages: unknown, fields: Fields): Prompt {
  const continueFinalMessage = fields.continue_final_message ?? false;
  const addGenerationPrompt = fields.add_generation_prompt ?? !continueFinalMessage;
  if (continueFinalMessage && addGenerationPrompt) {
    throw invalid('continue_final_message', 'cannot be combined with add_generation_prompt');
  }
  return {
    kind: 'messages',
    messages: readMessages(messages),
    addGenerationPrompt,
    continueFinalMessage,
    templateKwargs: fields.chat_template_kwargs ?? {},
  };
}

function readIncludeUsage(options: unknown, stream: boolean): boolean {
  if (options === undefined) return false;
  if (!isObject(options)) throw invalid('stream_options', 'must be an object');
  if (!stream) throw invalid('stream_options', 'is allowed only with "stream": true');
  const { include_usage: includeUsage = false, ...others } = withoutNulls(options);
  if (typeof includeUsage !== 'boolean')
    throw invalid('stream_options.include_usage', 'must be true or false');
  for (const [name, value] of Object.entries(others))
    requireNeutral(name, value, NEUTRAL_STREAM_OPTIONS, 'stream_options.');
  return includeUsage;
}
