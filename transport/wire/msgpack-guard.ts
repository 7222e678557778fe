import { MAX_NESTING } from './limits.ts';

/**
 * Looks over the raw bytes before msgpackr sees them. Our frames hold nil, booleans, numbers, strings, bytes,
 * arrays and (in fields of newer senders) maps; msgpackr would also build dates, regular expressions, sets,
 * errors, typed arrays, cyclic references and record definitions out of extension types, whatever its
 * options. Refusing extensions, deep nesting and wrong lengths here keeps all of that out for good.
 */

/** Bytes after the first for the fixed-size types 0xca..0xd3; 0 elsewhere. */
const FIXED_BYTES = new Uint8Array(256);
for (const [first, size] of [
  [0xca, 4],
  [0xcb, 8],
  [0xcc, 1],
  [0xcd, 2],
  [0xce, 4],
  [0xcf, 8],
  [0xd0, 1],
  [0xd1, 2],
  [0xd2, 4],
  [0xd3, 8],
] as const) {
  FIXED_BYTES[first] = size;
}

/** Bytes of the length field of bin, str, array and map; 0 elsewhere. */
const LENGTH_BYTES = new Uint8Array(256);
for (const [first, size] of [
  [0xc4, 1],
  [0xc5, 2],
  [0xc6, 4],
  [0xd9, 1],
  [0xda, 2],
  [0xdb, 4],
  [0xdc, 2],
  [0xdd, 4],
  [0xde, 2],
  [0xdf, 4],
] as const) {
  LENGTH_BYTES[first] = size;
}

const isExtensionOrReserved = (byte: number): boolean =>
  byte === 0xc1 || (byte >= 0xc7 && byte <= 0xc9) || (byte >= 0xd4 && byte <= 0xd8);

function readLength(bytes: Uint8Array, at: number, size: number): number {
  let length = 0;
  for (let i = 0; i < size; i += 1) length = length * 256 + (bytes[at + i] ?? 0);
  return length;
}

/** What an element claims: bytes that follow its head, or elements nested in it. */
interface Head {
  size: number;
  payload: number;
  children: number;
}

/** Kinds of heads in the one-byte forms: fixmap, fixarray, fixstr; anything else there is a number, nil or boolean. */
function shortHead(byte: number, head: Head): void {
  if (byte >= 0x80 && byte <= 0x8f) head.children = 2 * (byte & 0x0f);
  else if (byte >= 0x90 && byte <= 0x9f) head.children = byte & 0x0f;
  else if (byte >= 0xa0 && byte <= 0xbf) head.payload = byte & 0x1f;
}

function readHead(bytes: Uint8Array, at: number, head: Head): void {
  const byte = bytes[at] ?? 0xc1;
  const lengthBytes = LENGTH_BYTES[byte] ?? 0;
  head.size = 1 + lengthBytes;
  head.payload = FIXED_BYTES[byte] ?? 0;
  head.children = 0;
  if (byte < 0xc0) return shortHead(byte, head);
  if (lengthBytes === 0) return;
  const length = readLength(bytes, at + 1, lengthBytes);
  if (byte >= 0xde) head.children = 2 * length;
  else if (byte >= 0xdc) head.children = length;
  else head.payload = length;
}

/**
 * Whether `bytes` are exactly one well-formed msgpack value without extensions, nested at most
 * {@link MAX_NESTING} deep, whose containers do not claim more elements than bytes remain. Linear time, no
 * recursion, no allocation that grows with the input.
 */
export function isPlainMsgpack(bytes: Uint8Array): boolean {
  const openContainers: number[] = [];
  const head: Head = { size: 0, payload: 0, children: 0 };
  let at = 0;
  let remaining = 1;
  while (at < bytes.length) {
    if (isExtensionOrReserved(bytes[at] ?? 0xc1)) return false;
    readHead(bytes, at, head);
    at += head.size + head.payload;
    if (at + head.children > bytes.length) return false;
    remaining -= 1;
    if (head.children > 0) {
      if (openContainers.length >= MAX_NESTING) return false;
      openContainers.push(remaining);
      remaining = head.children;
    }
    while (remaining === 0) {
      const outer = openContainers.pop();
      if (outer === undefined) return at === bytes.length;
      remaining = outer;
    }
  }
  return false;
}
