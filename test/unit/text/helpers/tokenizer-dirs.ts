import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const MODELS_DIR = join(import.meta.dirname, '../../../../models');

const LETTERS = (() => {
  const printable = [...Array(256).keys()].filter(
    (b) => (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae,
  );
  let shifted = 0;
  return Array.from({ length: 256 }, (_, b) =>
    String.fromCharCode(printable.includes(b) ? b : 0x100 + shifted++),
  );
})();

export interface AddedToken {
  id: number;
  content: string;
  special: boolean;
  normalized?: boolean;
  lstrip?: boolean;
}

/** A byte-level tokenizer.json: id = byte for 0..255, then `extra` tokens as added ones. */
export function byteLevelJson(
  added: readonly AddedToken[] = [],
  over: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
    post_processor: null,
    decoder: { type: 'ByteLevel' },
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(LETTERS.map((letter, byte) => [letter, byte])),
      merges: [],
    },
    ...over,
  };
}

/** A sentencepiece-style tokenizer.json with byte fallback: 0 <unk>, 1 <s>, 2 </s>, 3..258 bytes, then pieces. */
export function sentencepieceJson(): Record<string, unknown> {
  const pieces = [
    '<unk>',
    '<s>',
    '</s>',
    ...Array.from({ length: 256 }, (_, b) => `<0x${b.toString(16).toUpperCase().padStart(2, '0')}>`),
  ];
  pieces.push('▁', 'H', 'i', '▁H', 'Hi', '▁Hi');
  return {
    added_tokens: [0, 1, 2].map((id) => ({ id, content: pieces[id], special: true, normalized: false })),
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Prepend', prepend: '▁' },
        { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
      ],
    },
    pre_tokenizer: null,
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [],
      special_tokens: { '<s>': { id: '<s>', ids: [1], tokens: ['<s>'] } },
    },
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        { type: 'Strip', content: ' ', start: 1, stop: 0 },
      ],
    },
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      merges: ['▁ H', 'H i', '▁H i'],
      unk_token: '<unk>',
      fuse_unk: true,
      byte_fallback: true,
    },
  };
}

/** Writes files into a fresh directory; objects as JSON. */
export function writeDir(files: Record<string, unknown>): string {
  const dir = mkdtempSync(join(tmpdir(), 'tokenrail-tokenizer-'));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return dir;
}
