import { isErrorCode } from '../../core/errors.ts';
import type { Admit } from '../messages.ts';
import { MAX_TEXT_CHARS } from './limits.ts';
import { packInit, readOptionalInit } from './request-init.ts';
import { packTokens, readTokens } from './token-ids.ts';
import { cutText, withOptional, type TupleCodec } from './tuple-codec.ts';
import type { TupleReader } from './tuple-reader.ts';

const NO_INIT = {
  promptLen: 0,
  sampling: { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 },
  limits: { maxTokens: 1, stopIds: [] },
  router: '',
};

const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

export const admitCodec: TupleCodec<'admit'> = {
  pack: (m) => [
    m.rid,
    m.term,
    packTokens(m.tokens),
    packInit(m.init),
    m.gateway,
    m.deadlineMs === undefined ? null : Math.max(0, m.deadlineMs),
  ],
  read(reader) {
    const rid = reader.rid();
    const term = reader.int('term');
    const tokens = readTokens(reader, 'tokens');
    const init = readOptionalInit(reader, 'init');
    const gateway = reader.name('gateway');
    const deadlineMs = reader.optional('deadlineMs', isDuration);
    if (init === undefined || init.promptLen > tokens.length) reader.fail('init');
    return withOptional<Admit>(
      { kind: 'admit', rid, term, tokens, init: init ?? NO_INIT, gateway },
      { deadlineMs },
    );
  },
};

export const admittedCodec: TupleCodec<'admitted'> = {
  pack: (m) => [m.rid, m.term, m.model, m.replica],
  read: (reader) => ({
    kind: 'admitted',
    rid: reader.rid(),
    term: reader.int('term'),
    model: reader.model('model'),
    replica: reader.name('replica'),
  }),
};

/** A code of a newer sender is an error all the same: it reads as `internal`. */
export function readErrorCode(reader: TupleReader, field: string): string {
  const code = reader.text(field, MAX_TEXT_CHARS);
  return isErrorCode(code) ? code : 'internal';
}

export const rejectCodec: TupleCodec<'reject'> = {
  pack: (m) => [
    m.rid,
    m.term,
    m.hop,
    m.model,
    m.replica,
    m.code,
    cutText(m.message, MAX_TEXT_CHARS),
    m.retryable,
  ],
  read: (reader) => ({
    kind: 'reject',
    rid: reader.rid(),
    term: reader.int('term'),
    hop: reader.int('hop'),
    model: reader.model('model'),
    replica: reader.name('replica'),
    code: readErrorCode(reader, 'code'),
    message: reader.text('message', MAX_TEXT_CHARS),
    retryable: reader.boolean('retryable'),
  }),
};
