import { createHash, timingSafeEqual } from 'node:crypto';
import { TokenrailError } from '../../core/errors.ts';

const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/** Checks API keys in a time that tells nothing about them. Without configured keys everybody may ask. */
export class KeyCheck {
  private readonly digests: readonly Buffer[];

  constructor(keys: readonly string[]) {
    this.digests = keys.map(digest);
  }

  get isOpen(): boolean {
    return this.digests.length === 0;
  }

  /** @throws TokenrailError `unauthorized` */
  require(key: unknown): void {
    if (this.isOpen) return;
    if (typeof key !== 'string' || key === '')
      throw new TokenrailError('unauthorized', 'An API key is required.');
    const given = digest(key);
    // No early exit: which of the keys fits must not show either.
    let fits = false;
    for (const known of this.digests) fits = timingSafeEqual(known, given) || fits;
    if (!fits) throw new TokenrailError('unauthorized', 'The API key is not valid.');
  }
}

/** The key in an Authorization header; undefined unless it is a Bearer header. */
export function bearerKey(header: string | undefined): string | undefined {
  return /^Bearer +(?<key>\S+)$/i.exec(header ?? '')?.groups?.['key'];
}
