import { unsupported } from './schema-issue.ts';

/** Which values of a field that is not supported are accepted, because they ask for nothing. */
interface NeutralField {
  /** Completes "is supported only as …"; absent = no value but null is accepted. */
  only?: string;
  accepts: (value: unknown) => boolean;
}

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const never: NeutralField = { accepts: () => false };
const only = (...values: readonly (string | number | boolean)[]): NeutralField => ({
  only: values.map((value) => JSON.stringify(value)).join(' or '),
  accepts: (value) => (values as readonly unknown[]).includes(value),
});
const emptyList: NeutralField = {
  only: '[]',
  accepts: (value) => Array.isArray(value) && value.length === 0,
};
const emptyObject: NeutralField = {
  only: '{}',
  accepts: (value) => !Array.isArray(value) && isEmptyObject(value),
};
const anyFlag: NeutralField = { only: 'true or false', accepts: (value) => typeof value === 'boolean' };
const responseFormat: NeutralField = {
  only: '{"type": "text"}',
  accepts: (value) =>
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'text' &&
    Object.keys(value).length === 1,
};
const textModality: NeutralField = {
  only: '["text"]',
  accepts: (value) => Array.isArray(value) && value.length === 1 && value[0] === 'text',
};
const anyText: NeutralField = { only: 'a text', accepts: (value) => typeof value === 'string' };
const anyObject: NeutralField = {
  only: 'an object',
  accepts: (value) => typeof value === 'object' && !Array.isArray(value),
};

/**
 * Fields that clients of OpenAI, vLLM and SGLang send and that this server does not support, with the values that
 * ask for nothing. Fields that only describe the request to an operator (`metadata` …) are here too: any value passes.
 */
export const NEUTRAL_FIELDS: ReadonlyMap<string, NeutralField> = new Map(
  Object.entries({
    n: only(1),
    best_of: only(1),
    echo: only(false),
    suffix: only(''),
    logprobs: only(false),
    top_logprobs: only(0),
    prompt_logprobs: never,
    logit_bias: emptyObject,
    frequency_penalty: only(0),
    presence_penalty: only(0),
    repetition_penalty: only(1),
    length_penalty: only(1),
    min_tokens: only(0),
    use_beam_search: only(false),
    bad_words: emptyList,
    allowed_token_ids: never,
    truncate_prompt_tokens: never,
    spaces_between_special_tokens: only(true),
    response_format: responseFormat,
    structured_outputs: never,
    guided_json: never,
    guided_regex: never,
    guided_choice: never,
    guided_grammar: never,
    regex: never,
    ebnf: never,
    json_schema: never,
    grammar: never,
    tools: emptyList,
    tool_choice: only('none', 'auto'),
    parallel_tool_calls: anyFlag,
    functions: emptyList,
    function_call: only('none', 'auto'),
    documents: emptyList,
    chat_template: never,
    modalities: textModality,
    audio: never,
    prediction: never,
    web_search_options: never,
    reasoning_effort: only('none'),
    verbosity: never,
    priority: only(0),
    cache_salt: never,
    store: only(false),
    service_tier: only('auto', 'default'),
    metadata: anyObject,
    safety_identifier: anyText,
    prompt_cache_key: anyText,
    request_id: anyText,
  } satisfies Record<string, NeutralField>),
);

/** Values of `stream_options` members that ask for nothing. */
export const NEUTRAL_STREAM_OPTIONS: ReadonlyMap<string, NeutralField> = new Map([
  ['continuous_usage_stats', only(false)],
  ['include_obfuscation', only(false)],
]);

/**
 * Accepts a field that is not supported if its value asks for nothing.
 * @throws TokenrailError `unsupported_parameter` naming the field, also for one nobody knows
 */
export function requireNeutral(
  name: string,
  value: unknown,
  known: ReadonlyMap<string, NeutralField>,
  prefix = '',
): void {
  const field = known.get(name);
  const param = `${prefix}${name}`;
  if (field === undefined) throw unsupported(param, 'is not a known field');
  if (field.accepts(value)) return;
  throw unsupported(
    param,
    field.only === undefined ? 'is not supported' : `is supported only as ${field.only}`,
  );
}
