import { Packr, Unpackr } from 'msgpackr';
import { TokenrailError } from '../core/errors.ts';
import { isPlainMsgpack } from './wire/msgpack-guard.ts';

/** How a client on the bus writes its request; it is answered in the same way. */
export type ClientFormat = 'json' | 'msgpack';

const packr = new Packr({ useRecords: false });
const unpackr = new Unpackr({ useRecords: false, int64AsType: 'number' });

const OPENING_BRACE = 0x7b;

/** JSON begins with `{`, which in msgpack would be the number 123: no request. */
export function clientFormatOf(payload: Uint8Array): ClientFormat {
  return payload[0] === OPENING_BRACE ? 'json' : 'msgpack';
}

/**
 * Reads a client's request: a JSON object or a msgpack map, of at most `maxBytes`. Only the envelope is
 * checked; its fields are the gateway's business.
 * @throws TokenrailError `payload_too_large`, `invalid_request`
 */
export function decodeClientRequest(payload: Uint8Array, maxBytes: number): Record<string, unknown> {
  if (payload.byteLength > maxBytes) {
    throw new TokenrailError(
      'payload_too_large',
      `A request may have ${maxBytes} bytes, this one has ${payload.byteLength}.`,
    );
  }
  const value = clientFormatOf(payload) === 'json' ? readJson(payload) : readMsgpack(payload);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TokenrailError('invalid_request', 'A request is a JSON object or a msgpack map.');
  }
  return value as Record<string, unknown>;
}

/** Writes one object of an answer. */
export function encodeClientObject(object: object, format: ClientFormat): Uint8Array {
  if (format === 'json') return new TextEncoder().encode(JSON.stringify(object));
  return packr.pack(object);
}

function readJson(payload: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  } catch (cause) {
    throw new TokenrailError('invalid_request', 'The request is not valid JSON.', { cause });
  }
}

function readMsgpack(payload: Uint8Array): unknown {
  // Extensions (dates, records, typed arrays …) and deep nesting are kept out before msgpackr sees the bytes.
  if (!isPlainMsgpack(payload))
    throw new TokenrailError('invalid_request', 'The request is neither JSON nor plain msgpack.');
  try {
    return unpackr.unpack(payload);
  } catch (cause) {
    throw new TokenrailError('invalid_request', 'The request is not valid msgpack.', { cause });
  }
}
