import { END_REASONS, type EndReason } from '../../core/request.ts';
import type { PeerLoc, PeerReq } from '../messages.ts';
import { readOptionalAlgo, packAlgo } from './algo-fields.ts';
import { MAX_MODEL_ID, MAX_NAME_CHARS } from './limits.ts';
import { packOrigins, readOptionalOrigins, readOrigins } from './origins.ts';
import { isName, isWireName } from './patterns.ts';
import { packHome, packInit, readHome, readOptionalInit } from './request-init.ts';
import { packTokens, readTokens } from './token-ids.ts';
import { withOptional, type TupleCodec } from './tuple-codec.ts';
import type { TupleReader } from './tuple-reader.ts';

export const isEndReason = (value: unknown): value is EndReason => END_REASONS.includes(value as EndReason);

function readLoc(reader: TupleReader): PeerLoc {
  const model = reader.model('model');
  const loc = reader.int('loc');
  return withOptional<PeerLoc>({ model, loc }, { replica: reader.optional('replica', isName) });
}

/** `loc` counts the suffix too: a shorter one would mean tokens before the first. */
function readLocBehind(reader: TupleReader, suffix: readonly number[]): number {
  const loc = reader.int('loc');
  if (loc < suffix.length) reader.fail('loc');
  return loc;
}

export const peerReqCodec: TupleCodec<'peer-req'> = {
  pack: (m) => [
    m.rid,
    m.term,
    m.hop,
    m.from,
    m.fromReplica,
    m.to,
    packTokens(m.suffix),
    m.loc,
    packHome(m.home),
    m.finished ?? null,
    m.init === undefined ? null : packInit(m.init),
    m.locs?.map(({ model, loc, replica }) =>
      replica === undefined ? [model, loc] : [model, loc, replica],
    ) ?? null,
    m.origins === undefined ? null : packOrigins(m.origins),
    m.algo === undefined ? null : packAlgo(m.algo),
  ],
  read(reader) {
    const rid = reader.rid();
    const term = reader.int('term');
    const hop = reader.int('hop');
    const from = reader.model('from');
    const fromReplica = reader.name('fromReplica');
    const to = reader.model('to');
    const suffix = readTokens(reader, 'suffix');
    const loc = readLocBehind(reader, suffix);
    const home = readHome(reader, 'home');
    const base: PeerReq = { kind: 'peer-req', rid, term, hop, from, fromReplica, to, suffix, loc, home };
    return withOptional(base, {
      finished: reader.optional('finished', isEndReason),
      init: readOptionalInit(reader, 'init'),
      locs: reader.listOf('locs', MAX_MODEL_ID, readLoc),
      origins: readOptionalOrigins(reader, 'origins', suffix.length),
      algo: readOptionalAlgo(reader, 'algo'),
    });
  },
};

export const progressCodec: TupleCodec<'progress'> = {
  pack: (m) => [
    m.rid,
    m.term,
    m.hop,
    m.from,
    m.fromReplica,
    packTokens(m.suffix),
    m.loc,
    packOrigins(m.origins),
  ],
  read(reader) {
    const rid = reader.rid();
    const term = reader.int('term');
    const hop = reader.int('hop');
    const from = reader.model('from');
    const fromReplica = reader.name('fromReplica');
    const suffix = readTokens(reader, 'suffix');
    const loc = readLocBehind(reader, suffix);
    const origins = readOrigins(reader, 'origins', suffix.length);
    return { kind: 'progress', rid, term, hop, from, fromReplica, suffix, loc, origins };
  },
};

export const needsPrefixCodec: TupleCodec<'needs-prefix'> = {
  pack: (m) => [m.rid, m.term, m.hop, m.from, m.fromReplica, m.have],
  read(reader) {
    const rid = reader.rid();
    const term = reader.int('term');
    const hop = reader.int('hop');
    const from = reader.int('from', 0, MAX_MODEL_ID);
    const fromReplica = reader.text('fromReplica', MAX_NAME_CHARS);
    // Only the gateway, which is no replica, may leave its name out.
    if (!isWireName(fromReplica) && (from !== 0 || fromReplica !== '')) reader.fail('fromReplica');
    return { kind: 'needs-prefix', rid, term, hop, from, fromReplica, have: reader.int('have') };
  },
};
