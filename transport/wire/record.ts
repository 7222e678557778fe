import type { RecordedScore, RecordEnd, StepRecord } from '../record-messages.ts';
import { packAlgo, readOptionalAlgo } from './algo-fields.ts';
import { isEndReason } from './handoff.ts';
import { readFloat32s, readInt32s, toLittleEndian } from './little-endian.ts';
import { MAX_MODEL_ID, MAX_RECORDED_SCORES, MAX_RECORDED_VALUES, MAX_TOKEN_ID } from './limits.ts';
import { packSampling, readSampling } from './request-init.ts';
import { packTokens, readTokens } from './token-ids.ts';
import { withOptional, type TupleCodec } from './tuple-codec.ts';
import type { TupleReader } from './tuple-reader.ts';

/** NaN and infinities are signals too. */
const isNumber = (value: unknown): value is number => typeof value === 'number';

const isPacked = (value: unknown): value is Uint8Array =>
  value instanceof Uint8Array && value.length % 4 === 0 && value.length <= 4 * MAX_RECORDED_VALUES;

/** `toLittleEndian` may turn the bytes of what it is given, and these belong to routers. */
const packFloats = (values: Float32Array | undefined): Uint8Array | null =>
  values === undefined ? null : toLittleEndian(values.slice());

function readFloats(reader: TupleReader, field: string): Float32Array | undefined {
  const bytes = reader.optional(field, isPacked);
  return bytes === undefined ? undefined : readFloat32s(bytes);
}

function readIds(reader: TupleReader, field: string, count: number | undefined): Int32Array | undefined {
  const bytes = reader.optional(field, isPacked);
  const ids = bytes === undefined ? undefined : readInt32s(bytes);
  if (ids?.length !== count || ids?.some((id) => id < 0 || id > MAX_TOKEN_ID)) reader.fail(field);
  return ids;
}

const readScore = (reader: TupleReader): RecordedScore => ({
  digest: reader.name('digest'),
  score: reader.required('score', isNumber, NaN),
});

const readSource = (
  reader: TupleReader,
): Pick<StepRecord, 'rid' | 'model' | 'replica' | 'configHash' | 'number'> => ({
  rid: reader.rid(),
  model: reader.model('model'),
  replica: reader.name('replica'),
  configHash: reader.name('configHash'),
  number: reader.int('number'),
});

export const stepRecordCodec: TupleCodec<'step-record'> = {
  pack: (m) => [
    m.rid,
    m.model,
    m.replica,
    m.configHash,
    m.number,
    m.router,
    m.position,
    m.numGenerated,
    m.numSinceArrival,
    packSampling(m.sampling),
    packTokens(m.suffix),
    m.sampled,
    m.logprob,
    m.entropyNats,
    m.normalizedEntropy,
    m.destination,
    m.token,
    m.isKept,
    m.logSumExp ?? null,
    packFloats(m.topValues),
    m.topIds === undefined ? null : toLittleEndian(m.topIds.slice()),
    packFloats(m.hidden),
    m.scores?.map(({ digest, score }) => [digest, score]) ?? null,
    m.algo === undefined ? null : packAlgo(m.algo),
  ],
  read(reader) {
    const source = readSource(reader);
    const router = reader.name('router');
    const position = reader.int('position');
    const numGenerated = reader.int('numGenerated', 0, position);
    const numSinceArrival = reader.int('numSinceArrival', 0, position);
    const sampling = reader.tupleOf('sampling', readSampling);
    if (sampling === undefined) reader.fail('sampling');
    const suffix = readTokens(reader, 'suffix');
    if (suffix.length > position) reader.fail('suffix');
    const base: StepRecord = {
      kind: 'step-record',
      ...source,
      router,
      position,
      numGenerated,
      numSinceArrival,
      sampling: sampling ?? { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 },
      suffix,
      sampled: reader.int('sampled', 0, MAX_TOKEN_ID),
      logprob: reader.required('logprob', isNumber, NaN),
      entropyNats: reader.required('entropyNats', isNumber, NaN),
      normalizedEntropy: reader.required('normalizedEntropy', isNumber, NaN),
      destination: reader.int('destination', 0, MAX_MODEL_ID),
      token: reader.int('token', 0, MAX_TOKEN_ID),
      isKept: reader.boolean('isKept'),
    };
    const logSumExp = reader.optional('logSumExp', isNumber);
    const topValues = readFloats(reader, 'topValues');
    const topIds = readIds(reader, 'topIds', topValues?.length);
    const hidden = readFloats(reader, 'hidden');
    const scores = reader.listOf('scores', MAX_RECORDED_SCORES, readScore);
    const algo = readOptionalAlgo(reader, 'algo');
    return withOptional(base, { logSumExp, topValues, topIds, hidden, scores, algo });
  },
};

export const recordEndCodec: TupleCodec<'record-end'> = {
  pack: (m) => [m.rid, m.model, m.replica, m.configHash, m.number, m.reason, m.completionTokens],
  read: (reader): RecordEnd => ({
    kind: 'record-end',
    ...readSource(reader),
    reason: reader.required('reason', isEndReason, 'error'),
    completionTokens: reader.int('completionTokens'),
  }),
};
