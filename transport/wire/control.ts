import type { Abort } from '../messages.ts';
import { isEndReason } from './handoff.ts';
import { MAX_COUNT } from './limits.ts';
import { withOptional, type TupleCodec } from './tuple-codec.ts';

export const releaseCodec: TupleCodec<'release'> = {
  pack: (m) => [m.rid, m.term],
  read: (reader) => ({ kind: 'release', rid: reader.rid(), term: reader.int('term') }),
};

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT;

export const abortCodec: TupleCodec<'abort'> = {
  pack: (m) => [m.rid, m.term, m.reason, m.at ?? null],
  read(reader) {
    const rid = reader.rid();
    const term = reader.int('term');
    const reason = reader.required('reason', isEndReason, 'abort');
    return withOptional<Abort>({ kind: 'abort', rid, term, reason }, { at: reader.optional('at', isCount) });
  },
};

export const probeCodec: TupleCodec<'probe'> = {
  pack: () => [],
  read: () => ({ kind: 'probe' }),
};
