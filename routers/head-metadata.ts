import { closeSync, openSync, readSync } from 'node:fs';

/** A header longer than this is none. */
const MAX_HEADER_BYTES = 100_000_000;

/**
 * The texts in the header of a safetensors file (https://github.com/huggingface/safetensors): 8 bytes of length,
 * then JSON with the texts under `__metadata__`. The tensors are the engine's business.
 * @throws Error where the file cannot be read or is none
 */
export function readHeadMetadata(path: string): Readonly<Record<string, string>> {
  const fd = openSync(path, 'r');
  try {
    const prefix = Buffer.alloc(8);
    readSync(fd, prefix, 0, 8, 0);
    const length = Number(prefix.readBigUInt64LE());
    if (length < 2 || length > MAX_HEADER_BYTES) throw new Error(`${path} is not a safetensors file`);
    const header = Buffer.alloc(length);
    if (readSync(fd, header, 0, length, 8) < length) throw new Error(`${path} ends inside its header`);
    return textsOf(path, parsed(path, header));
  } finally {
    closeSync(fd);
  }
}

function parsed(path: string, header: Buffer): unknown {
  try {
    return JSON.parse(header.toString('utf8'));
  } catch (cause) {
    throw new Error(`the header of ${path} is not valid JSON`, { cause });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** @throws Error where there is anything but texts: a number that is passed over would be a default instead */
function textsOf(path: string, header: unknown): Record<string, string> {
  const metadata = (isObject(header) ? header['__metadata__'] : undefined) ?? {};
  if (!isObject(metadata)) throw new Error(`"__metadata__" of ${path} is no object`);
  const wrong = Object.keys(metadata).find((key) => typeof metadata[key] !== 'string');
  if (wrong !== undefined) throw new Error(`"${wrong}" in "__metadata__" of ${path} is no text`);
  return metadata as Record<string, string>;
}
