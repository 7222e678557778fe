import type { TokenBytes } from '../../../engine/tokenizer.ts';
import { incompleteTailLength } from './utf8-tail.ts';

export interface DetokenizerOptions {
  /** Whether control tokens leave no text. Default true. */
  skipSpecialTokens?: boolean;
  /**
   * Whether the first token begins a text of its own (the answer of a chat), so that the space which sentencepiece
   * puts in front of a text is dropped. False where it continues a text. Default false.
   */
  startsText?: boolean;
}

const NOTHING = new Uint8Array(0);
const SPACE = 0x20;

/**
 * Turns ids into text one by one. A character is given out with the token that completes it, so its pieces joined
 * equal the whole text, however the bytes are spread over tokens. Bytes that are not UTF-8 become U+FFFD as in any
 * decoder; the beginning of a character that the answer's end cut off is dropped, streamed or not.
 */
export class IncrementalDetokenizer {
  readonly #tokens: TokenBytes;
  readonly #skipSpecialTokens: boolean;
  #dropsSpace: boolean;
  #held: Uint8Array = NOTHING;

  constructor(tokens: TokenBytes, options: DetokenizerOptions = {}) {
    this.#tokens = tokens;
    this.#skipSpecialTokens = options.skipSpecialTokens ?? true;
    this.#dropsSpace = (options.startsText ?? false) && tokens.stripsLeadingSpace;
  }

  /** The text that this token completes; empty while a character is incomplete. */
  push(id: number): string {
    const isSilent = this.#skipSpecialTokens && this.#tokens.isSpecial(id);
    const added = isSilent ? NOTHING : this.#withoutLeadingSpace(this.#tokens.tokenBytes(id));
    if (added.length === 0) return '';
    const bytes = this.#held.length === 0 ? added : Buffer.concat([this.#held, added]);
    const end = bytes.length - incompleteTailLength(bytes);
    this.#held = bytes.subarray(end);
    return Buffer.from(bytes.buffer, bytes.byteOffset, end).toString('utf8');
  }

  /** Ends the text. Always empty: see the class. */
  flush(): string {
    this.#held = NOTHING;
    return '';
  }

  #withoutLeadingSpace(bytes: Uint8Array): Uint8Array {
    if (!this.#dropsSpace || bytes.length === 0) return bytes;
    this.#dropsSpace = false;
    return bytes[0] === SPACE ? bytes.subarray(1) : bytes;
  }
}
