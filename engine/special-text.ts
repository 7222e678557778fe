import { LiteralSet } from './literal-set.ts';

/**
 * Marks a place where a control token must not be recognised. A noncharacter: Unicode reserves it for the
 * inside of a program, and the tokenizer drops it after the control tokens have been cut out of the text.
 */
export const BREAK_MARK = '\ufdd0';

/** Marks the end of a message that the answer continues; see the chat template. */
export const END_MARK = '\ufdd1';

const RESERVED = /[\ufdd0\ufdd1]/gu;
// With the u flag only unpaired surrogates match; UTF-8 has no form for them.
const LONE_SURROGATE = /\p{Surrogate}/gu;
// eslint-disable-next-line no-control-regex -- ASCII is what is meant
const NON_ASCII = /[^\x00-\x7f]/;

/** The text as UTF-8 would carry it: unpaired surrogates become U+FFFD. */
export function toWellFormed(text: string): string {
  return text.replace(LONE_SURROGATE, '\ufffd');
}

/** Takes the power out of control tokens in text that a client wrote. */
export class SpecialText {
  readonly #specials: LiteralSet;

  /** @param specials contents of the control tokens */
  constructor(specials: Iterable<string>) {
    this.#specials = new LiteralSet(specials);
  }

  /**
   * Breaks every control token in `text`, overlapping ones too, with {@link BREAK_MARK} behind its first
   * character. Marks that the client wrote itself become U+FFFD. A control token of a single character cannot be
   * broken: it is replaced by U+FFFD.
   */
  disarm(text: string): string {
    const clean = toWellFormed(text).replace(RESERVED, '\ufffd');
    let out = '';
    let copied = 0;
    for (let i = 0; i < clean.length; i += 1) {
      if (!this.#specials.startsAt(clean, i)) continue;
      const first = String.fromCodePoint(clean.codePointAt(i) ?? 0);
      const isWhole = this.#specials.startsAt(first, 0);
      out += clean.slice(copied, i) + (isWhole ? '\ufffd' : first + BREAK_MARK);
      copied = i + first.length;
    }
    if (copied > 0) return out + clean.slice(copied);
    if (!this.#mayNormaliseToSpecial(clean)) return clean;
    const first = String.fromCodePoint(clean.codePointAt(0) ?? 0);
    return first + BREAK_MARK + clean.slice(first.length);
  }

  /** The library compares whole normalised texts with the control tokens (`U+212A` normalises to `K`). */
  #mayNormaliseToSpecial(text: string): boolean {
    if (!NON_ASCII.test(text)) return false;
    return ['NFC', 'NFKC'].some((form) => this.#occursIn(text.normalize(form)));
  }

  #occursIn(text: string): boolean {
    for (let i = 0; i < text.length; i += 1) {
      if (this.#specials.startsAt(text, i)) return true;
    }
    return false;
  }
}

/** The text without the marks of {@link SpecialText.disarm}: what a person may be shown. */
export function withoutMarks(text: string): string {
  return text.replace(RESERVED, '');
}
