import type { TokenBytes } from '../../../../engine/tokenizer.ts';

/** Tokens with the given bytes; strings are their UTF-8. Ids in `special` are control tokens. */
export function tokensOf(
  parts: readonly (string | readonly number[])[],
  special: readonly number[] = [],
  stripsLeadingSpace = false,
): TokenBytes {
  const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part)));
  return {
    tokenBytes: (id) => bytes[id] ?? new Uint8Array(0),
    isSpecial: (id) => special.includes(id),
    stripsLeadingSpace,
  };
}

/** 256 byte tokens; id = byte. */
export const byteTokens: TokenBytes = tokensOf(Array.from({ length: 256 }, (_, byte) => [byte]));

/** Cuts bytes at the given places into tokens. */
export function cut(bytes: Uint8Array, places: readonly number[]): { tokens: TokenBytes; ids: number[] } {
  const bounds = [...new Set([0, ...places.map((place) => place % (bytes.length + 1)), bytes.length])].sort(
    (a, b) => a - b,
  );
  const parts = bounds.slice(1).map((end, i) => [...bytes.subarray(bounds[i], end)]);
  return { tokens: tokensOf(parts), ids: parts.map((_, i) => i) };
}
