import { closeSync, openSync, readSync } from 'node:fs';

/** A header longer than this is none. */
const MAX_HEADER_BYTES = 100_000_000;

/**
 * The texts in the header of a safetensors file (https://github.com/huggingface/safetensors): 8 bytes of length,
 * then JSON with the texts under `__metadata__`. The tensors are the engine's business.
 * @throws Error where the file cannot be read or is none
 */
export function readHeadMetadata(path: string): Readonly<Record<string, unknown>> {
  const fd = openSync(path, 'r');
  try {
    const prefix = Buffer.alloc(8);
    readSync(fd, prefix, 0, 8, 0);
    const length = Number(prefix.readBigUInt64LE());
    if (length < 2 || length > MAX_HEADER_BYTES) throw new Error(`${path} is not a safetensors file`);
    const header = Buffer.alloc(length);
    if (readSync(fd, header, 0, length, 8) < length) throw new Error(`${path} ends inside its header`);
    const { __metadata__: metadata = {} } = JSON.parse(header.toString('utf8')) as {
      __metadata__?: Record<string, unknown>;
    };
    return metadata;
  } finally {
    closeSync(fd);
  }
}
