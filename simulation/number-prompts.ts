import type { PromptReader } from '../actors/gateway/prompt-reader.ts';
import { AnswerText } from '../actors/gateway/text/answer-text.ts';
import { TokenrailError } from '../core/errors.ts';
import type { TokenBytes } from '../engine/tokenizer.ts';

/** A vocabulary for simulations: token 17 reads " 17". */
function numberTokens(vocabSize: number): TokenBytes {
  const table = Array.from({ length: vocabSize }, (_, id) => Buffer.from(` ${id}`));
  const nothing = Buffer.alloc(0);
  return {
    tokenBytes: (id) => table[id] ?? nothing,
    isSpecial: () => false,
    stripsLeadingSpace: false,
  };
}

/** Prompts that are token ids, answers that are numbers: the text side of a gateway without a tokenizer. */
export function numberPrompts(vocabSize: number): Pick<PromptReader, 'read' | 'answerText'> {
  const tokens = numberTokens(vocabSize);
  return {
    read: (prompt) =>
      prompt.kind === 'ids'
        ? Promise.resolve(prompt.ids)
        : Promise.reject(new TokenrailError('invalid_request', 'a simulation takes token ids only')),
    answerText: ({ stop, includeStopText }) => new AnswerText(tokens, { stop, includeStopText }),
  };
}
