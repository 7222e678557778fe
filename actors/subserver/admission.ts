import { TokenrailError } from '../../core/errors.ts';
import type { ReceivePlan } from '../../routers/router.ts';
import type { RequestInit } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';
import type { LiveRequest } from './live-request.ts';

type AppendPlan = Extract<ReceivePlan, { kind: 'append' }>;

/** What another model adds to a request, or why that cannot be: then the request ends with this error. */
export function usablePlan(
  context: SubserverContext,
  request: LiveRequest,
  plan: Exclude<ReceivePlan, { kind: 'gap' }>,
): AppendPlan | TokenrailError {
  const violation = (text: string): TokenrailError => new TokenrailError('protocol_violation', text);
  if (plan.kind === 'conflict')
    return violation(`models disagree about token ${plan.position} of the request`);
  if (!areWords(context, plan.tokens)) return violation('a token of another model is outside the vocabulary');
  const most = request.promptLen + request.init.limits.maxTokens;
  const length = request.tokens.length + plan.tokens.length;
  if (length <= most) return plan;
  return violation(`${length} tokens are more than prompt and answer may have (${most})`);
}

/** Whether all ids are inside this model's vocabulary: another one would make the engine read elsewhere. */
function areWords(context: SubserverContext, tokens: readonly number[]): boolean {
  return tokens.every((id) => id >= 0 && id < context.info.vocabSize);
}

/** Why a request cannot be taken here; undefined if it can. The same rules at homes and guests. */
export function refuse(
  context: SubserverContext,
  init: RequestInit,
  tokens: readonly number[],
): TokenrailError | undefined {
  const { info, routers, table, options } = context;
  if (init.configHash !== undefined && init.configHash !== options.configHash) {
    context.logger.warn(
      { theirs: init.configHash, ours: options.configHash },
      'refused: another configuration',
    );
    return new TokenrailError('model_unavailable', 'this replica runs another configuration than the sender');
  }
  if (init.promptLen < 1 || init.promptLen > tokens.length) {
    return new TokenrailError('invalid_request', 'the prompt must hold at least one token');
  }
  if (!routers.has(init.router)) {
    return new TokenrailError('invalid_request', `unknown router ${init.router}`, { param: 'router' });
  }
  const tooLong = refuseLength(context, init, tokens.length);
  if (tooLong) return tooLong;
  const wrong = tokens.find((id) => id < 0 || id >= info.vocabSize);
  if (wrong !== undefined) {
    return new TokenrailError(
      'invalid_request',
      `token id ${wrong} is outside the vocabulary of ${info.vocabSize}`,
    );
  }
  if (table.size >= options.maxLiveRequests) {
    return new TokenrailError('overloaded', 'this replica holds as many requests as it may');
  }
  return undefined;
}

function refuseLength(
  context: SubserverContext,
  init: RequestInit,
  numTokens: number,
): TokenrailError | undefined {
  const { info, ledger } = context;
  const lenTokens = init.promptLen + init.limits.maxTokens;
  if (lenTokens > info.maxModelLenTokens) {
    const text = `prompt (${init.promptLen}) and max_tokens (${init.limits.maxTokens}) exceed the context of ${info.maxModelLenTokens} tokens`;
    return new TokenrailError('context_length_exceeded', text);
  }
  if (numTokens > lenTokens) {
    const text = `${numTokens} tokens are more than prompt and answer may have (${lenTokens})`;
    return new TokenrailError('context_length_exceeded', text);
  }
  if (!ledger.canEverFit(lenTokens)) {
    const text = `${lenTokens} tokens can never fit the KV memory of ${ledger.totalBlocks * ledger.blockSizeTokens} tokens`;
    return new TokenrailError('context_length_exceeded', text);
  }
  return undefined;
}
