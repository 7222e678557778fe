import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** SHA-256 of a file's content, in hexadecimal digits. @throws Error of the file system */
export function fileDigest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
