import { z } from 'zod';

/** Largest number of tokens that can be asked for; the context is the real bound. */
const MAX_TOKENS = 2_147_483_647;
/** Beyond it a seed is no 64-bit integer. Above 2^53 a JSON number means the double nearest to it. */
const MAX_SEED = 2 ** 63;
const MAX_STOPS = 4;
const MAX_STOP_UNITS = 1_024;
const MAX_STOP_IDS = 64;

const integer = (min: number, max: number) => {
  const error =
    max === Infinity ? `must be an integer of at least ${min}` : `must be an integer from ${min} to ${max}`;
  return z
    .number({ error })
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, { error });
};

const real = (isValid: (value: number) => boolean, error: string) =>
  z.number({ error }).refine(isValid, { error });
const flag = z.boolean({ error: 'must be true or false' });
const text = z.string({ error: 'must be a text' });

const stopText = text
  .min(1, { error: 'must not be empty' })
  .max(MAX_STOP_UNITS, { error: `must not be longer than ${MAX_STOP_UNITS} characters` })
  .refine((value) => !/\p{Surrogate}/u.test(value), {
    error: 'must not hold half a character (an unpaired surrogate)',
  });

const stop = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(stopText, { error: `must be a text or a list of up to ${MAX_STOPS} texts` }).max(MAX_STOPS, {
    error: `must not hold more than ${MAX_STOPS} texts`,
  }),
);

/** Fields of both endpoints, all optional but `model`. Null values are removed before. */
export const COMMON_FIELDS = {
  model: z.string({ error: 'must be the name of a model' }),
  temperature: real((value) => value >= 0 && value <= 2, 'must be a number from 0 to 2').optional(),
  top_p: real((value) => value > 0 && value <= 1, 'must be a number above 0 and at most 1').optional(),
  top_k: integer(-1, MAX_TOKENS).optional(),
  min_p: real((value) => value >= 0 && value <= 1, 'must be a number from 0 to 1').optional(),
  seed: z
    .number({ error: 'must be an integer' })
    .refine((value) => Number.isInteger(value) && Math.abs(value) <= MAX_SEED, {
      error: 'must be an integer of at most 64 bits',
    })
    .optional(),
  max_tokens: integer(1, MAX_TOKENS).optional(),
  stop: stop.optional(),
  stop_token_ids: z
    .array(integer(0, MAX_TOKENS), { error: 'must be a list of token ids' })
    .max(MAX_STOP_IDS, { error: `must not hold more than ${MAX_STOP_IDS} ids` })
    .optional(),
  include_stop_str_in_output: flag.optional(),
  ignore_eos: flag.optional(),
  skip_special_tokens: flag.optional(),
  stream: flag.optional(),
  return_token_ids: flag.optional(),
  router: text.optional(),
  user: text.optional(),
};

/** Fields of /v1/chat/completions besides; `messages` has a reader of its own. */
export const CHAT_FIELDS = {
  max_completion_tokens: integer(1, MAX_TOKENS).optional(),
  add_generation_prompt: flag.optional(),
  continue_final_message: flag.optional(),
  chat_template_kwargs: z.record(z.string(), z.unknown(), { error: 'must be an object' }).optional(),
};

/** What the fields of either endpoint come out as; those of chat are absent in a completion. */
const allFields = z.object({ ...COMMON_FIELDS, ...CHAT_FIELDS });
export type Fields = z.infer<typeof allFields>;

export const chatFields = allFields;
export const completionFields = z.object(COMMON_FIELDS);
