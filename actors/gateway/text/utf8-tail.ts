/** Bytes that may follow `lead` in second place (Unicode 15, table 3-7): shortest forms only, no surrogates, nothing above U+10FFFF. */
function mayFollow(lead: number, second: number): boolean {
  if (lead === 0xe0) return second >= 0xa0 && second <= 0xbf;
  if (lead === 0xed) return second >= 0x80 && second <= 0x9f;
  if (lead === 0xf0) return second >= 0x90 && second <= 0xbf;
  if (lead === 0xf4) return second >= 0x80 && second <= 0x8f;
  return isContinuation(second);
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Bytes of the character that `lead` begins; 0 where no character of more than one byte begins so. */
function charLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/**
 * How many bytes at the end (0 to 3) are the beginning of a character that later bytes can still complete. Bytes
 * that can never become one do not count: they are decoded to U+FFFD at once.
 */
export function incompleteTailLength(bytes: Uint8Array): number {
  for (let length = 1; length <= 3 && length <= bytes.length; length += 1) {
    const at = bytes.length - length;
    const lead = bytes[at] ?? 0;
    if (isContinuation(lead)) continue;
    if (charLength(lead) <= length) return 0;
    return length === 1 || mayFollow(lead, bytes[at + 1] ?? 0) ? length : 0;
  }
  return 0;
}
