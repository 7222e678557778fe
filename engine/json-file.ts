import { existsSync, readFileSync } from 'node:fs';
import { TokenrailError } from '../core/errors.ts';

/** A JSON object of a checkpoint directory. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a text file of a checkpoint. @throws TokenrailError `checkpoint_invalid` naming the file */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new TokenrailError('checkpoint_invalid', `cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Reads a JSON object of a checkpoint.
 * @throws TokenrailError `checkpoint_invalid` naming the file: missing, a Git-LFS pointer, broken, not an object
 */
export function readJsonFile(path: string): JsonObject {
  const text = readTextFile(path);
  if (text.startsWith('version https://git-lfs')) {
    throw new TokenrailError(
      'checkpoint_invalid',
      `${path} is a Git-LFS pointer, not the file: run git lfs pull`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TokenrailError('checkpoint_invalid', `${path} is not JSON: ${messageOf(cause)}`, { cause });
  }
  if (!isJsonObject(value)) throw new TokenrailError('checkpoint_invalid', `${path} is not a JSON object`);
  return value;
}

/** As {@link readJsonFile}; undefined where the file does not exist. */
export function readOptionalJsonFile(path: string): JsonObject | undefined {
  return existsSync(path) ? readJsonFile(path) : undefined;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
