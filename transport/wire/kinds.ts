import type { Message, MessageKind } from '../messages.ts';
import { admitCodec, admittedCodec, rejectCodec } from './admission.ts';
import { abortCodec, probeCodec, releaseCodec } from './control.ts';
import { needsPrefixCodec, peerReqCodec, progressCodec } from './handoff.ts';
import { beaconCodec, heartbeatCodec } from './load.ts';
import { planCodec } from './plan.ts';
import { recordEndCodec, stepRecordCodec } from './record.ts';
import { finishCodec, tokensCodec } from './stream.ts';
import type { TupleCodec } from './tuple-codec.ts';
import { TupleReader } from './tuple-reader.ts';

/** First element of a tuple. Numbers are never given to another kind. */
export const KIND_NUMBERS: Readonly<Record<MessageKind, number>> = {
  admit: 1,
  admitted: 2,
  reject: 3,
  'peer-req': 4,
  progress: 5,
  'needs-prefix': 6,
  tokens: 7,
  finish: 8,
  release: 9,
  abort: 10,
  beacon: 11,
  heartbeat: 12,
  probe: 13,
  plan: 14,
  'step-record': 15,
  'record-end': 16,
};

const CODECS: { readonly [K in MessageKind]: TupleCodec<K> } = {
  admit: admitCodec,
  admitted: admittedCodec,
  reject: rejectCodec,
  'peer-req': peerReqCodec,
  progress: progressCodec,
  'needs-prefix': needsPrefixCodec,
  tokens: tokensCodec,
  finish: finishCodec,
  release: releaseCodec,
  abort: abortCodec,
  beacon: beaconCodec,
  heartbeat: heartbeatCodec,
  probe: probeCodec,
  plan: planCodec,
  'step-record': stepRecordCodec,
  'record-end': recordEndCodec,
};

/** Codecs by kind number; each pairs with its own kind by construction of the table above. */
const BY_NUMBER = new Map<unknown, TupleCodec<MessageKind>>(
  (Object.keys(CODECS) as MessageKind[]).map((kind) => [
    KIND_NUMBERS[kind],
    CODECS[kind] as unknown as TupleCodec<MessageKind>,
  ]),
);

/** One message as a tuple: kind number, then fields; absent optional fields at the end are left out. */
export function packMessage(message: Message): unknown[] {
  const codec = CODECS[message.kind] as unknown as TupleCodec<MessageKind>;
  const tuple = codec.pack(message);
  let length = tuple.length;
  while (length > 0 && tuple[length - 1] === null) length -= 1;
  tuple.length = length;
  tuple.unshift(KIND_NUMBERS[message.kind]);
  return tuple;
}

export type ReadResult = { message: Message } | { unknownKind: true } | { invalidField: string };

/** Reads one tuple; the result holds nothing but fields we know, in objects of our own. */
export function readMessage(tuple: unknown): ReadResult {
  if (!Array.isArray(tuple)) return { unknownKind: true };
  const codec = BY_NUMBER.get(tuple[0]);
  if (codec === undefined) return { unknownKind: true };
  const reader = new TupleReader(tuple, 1);
  const message = codec.read(reader);
  return reader.failed === undefined ? { message } : { invalidField: `${message.kind}.${reader.failed}` };
}
