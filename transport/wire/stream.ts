import type { Finish, RequestUsage, Tokens } from '../messages.ts';
import { readErrorCode } from './admission.ts';
import { isEndReason } from './handoff.ts';
import { MAX_MODEL_ID, MAX_TEXT_CHARS } from './limits.ts';
import { packOrigins, readOrigins } from './origins.ts';
import { isName } from './patterns.ts';
import { packTokens, readTokens } from './token-ids.ts';
import { cutText, withOptional, type TupleCodec } from './tuple-codec.ts';
import type { TupleReader } from './tuple-reader.ts';

export const tokensCodec: TupleCodec<'tokens'> = {
  pack: (m) => [m.rid, m.term, m.position, packTokens(m.ids), packOrigins(m.origins), m.replica ?? null],
  read(reader) {
    const rid = reader.rid();
    const term = reader.int('term');
    const position = reader.int('position');
    const ids = readTokens(reader, 'ids');
    const origins = readOrigins(reader, 'origins', ids.length);
    const replica = reader.optional('replica', isName);
    return withOptional<Tokens>({ kind: 'tokens', rid, term, position, ids, origins }, { replica });
  },
};

const NO_USAGE: RequestUsage = { promptTokens: 0, completionTokens: 0, tokensByModel: [], handoffs: 0 };

function readModelTokens(reader: TupleReader): [number, number] {
  return [reader.model('model'), reader.int('tokens')];
}

function readUsage(reader: TupleReader): RequestUsage {
  const promptTokens = reader.int('promptTokens');
  const completionTokens = reader.int('completionTokens');
  const tokensByModel = reader.listOf('tokensByModel', MAX_MODEL_ID, readModelTokens);
  if (tokensByModel === undefined) reader.fail('tokensByModel');
  return {
    promptTokens,
    completionTokens,
    tokensByModel: tokensByModel ?? [],
    handoffs: reader.int('handoffs'),
  };
}

function readError(reader: TupleReader): { code: string; message: string } {
  return { code: readErrorCode(reader, 'code'), message: reader.text('message', MAX_TEXT_CHARS) };
}

export const finishCodec: TupleCodec<'finish'> = {
  pack: ({ rid, term, reason, usage, error, replica }) => [
    rid,
    term,
    reason,
    [usage.promptTokens, usage.completionTokens, usage.tokensByModel, usage.handoffs],
    error === undefined ? null : [error.code, cutText(error.message, MAX_TEXT_CHARS)],
    replica ?? null,
  ],
  read(reader) {
    const rid = reader.rid();
    const term = reader.int('term');
    const reason = reader.required('reason', isEndReason, 'error');
    const usage = reader.tupleOf('usage', readUsage);
    const error = reader.tupleOf('error', readError);
    const replica = reader.optional('replica', isName);
    if (usage === undefined) reader.fail('usage');
    return withOptional<Finish>(
      { kind: 'finish', rid, term, reason, usage: usage ?? NO_USAGE },
      { error, replica },
    );
  },
};
