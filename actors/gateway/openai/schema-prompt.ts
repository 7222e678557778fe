import type { IdsPrompt, TextPrompt } from '../generation-request.ts';
import { invalid, unsupported } from './schema-issue.ts';

/** Largest id that fits the wire; the vocabulary is the real bound. */
const MAX_ID = 2_147_483_647;

/**
 * The prompt of a completion: a text, a list of token ids, or a list of one of these.
 * @throws TokenrailError `invalid_request`, `unsupported_parameter` for several prompts
 */
export function readPrompt(value: unknown): TextPrompt | IdsPrompt {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (!Array.isArray(value)) throw invalid('prompt', 'must be a text or a list of token ids');
  const list = value as readonly unknown[];
  if (list.length === 0) throw invalid('prompt', 'must not be empty');
  const isNested = list.some((item) => typeof item === 'string' || Array.isArray(item));
  if (!isNested) return { kind: 'ids', ids: list.map(readId) };
  if (list.length > 1) throw unsupported('prompt', 'is supported only as one prompt per request');
  const [only] = list;
  if (Array.isArray(only) && only.some((item) => typeof item !== 'number'))
    throw invalid('prompt[0]', 'must be a list of token ids');
  return readPrompt(only);
}

function readId(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_ID) return value;
  throw invalid('prompt', 'must be a list of token ids: integers of at least 0');
}
