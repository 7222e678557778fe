import type { TokenOrigins } from '../messages.ts';
import { readFloat32s, toLittleEndian, toList } from './little-endian.ts';
import type { TupleReader } from './tuple-reader.ts';

/** Origins as they travel: one byte of model id and four bytes of little-endian float32 per token. */
export type WireOrigins = readonly [models: Uint8Array, signals: Uint8Array];

export function packOrigins(origins: TokenOrigins): WireOrigins {
  return [Uint8Array.from(origins.models), toLittleEndian(Float32Array.from(origins.signals))];
}

function unpack(models: Uint8Array, signals: Uint8Array): TokenOrigins {
  return { models: toList(models), signals: toList(readFloat32s(signals)) };
}

/**
 * Reads the origins of `count` tokens; undefined where absent. Model 0 stands for "not known any more".
 * Signals keep float32 precision; NaN (no signal) survives.
 */
export function readOptionalOrigins(
  reader: TupleReader,
  field: string,
  count: number,
): TokenOrigins | undefined {
  return reader.tupleOf(field, (inner) => {
    const models = inner.raw();
    const signals = inner.raw();
    const fits =
      models instanceof Uint8Array &&
      signals instanceof Uint8Array &&
      models.length === count &&
      signals.length === 4 * count;
    if (fits) return unpack(models, signals);
    inner.fail('length');
    return undefined;
  });
}

/** The same where the message must bring them. */
export function readOrigins(reader: TupleReader, field: string, count: number): TokenOrigins {
  const origins = readOptionalOrigins(reader, field, count);
  if (origins !== undefined) return origins;
  reader.fail(field);
  return { models: [], signals: [] };
}
