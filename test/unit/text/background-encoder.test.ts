import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TokenrailError } from '../../../core/errors.ts';
import { BackgroundEncoder, type BackgroundEncoderOptions } from '../../../engine/background-encoder.ts';
import { loadTokenizer } from '../../../engine/tokenizer.ts';
import { MODELS_DIR } from './helpers/tokenizer-dirs.ts';

const dir = join(MODELS_DIR, 'small');
const tokenizer = loadTokenizer(dir);
const open: BackgroundEncoder[] = [];
const makeEncoder = (from = dir, options: BackgroundEncoderOptions = {}): BackgroundEncoder => {
  const encoder = new BackgroundEncoder(tokenizer, from, options);
  open.push(encoder);
  return encoder;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((encoder) => encoder.close()));
});

describe('BackgroundEncoder', () => {
  it('equals the tokenizer, for short and for long texts, in any number at once', async () => {
    const encoder = makeEncoder();
    const texts = [
      'short',
      '_'.repeat(12_000),
      `<|user|>${'ar'.repeat(6_000)}<|end|>`,
      'e\u0301'.repeat(6_000),
      '\n '.repeat(5_000),
      ' '.repeat(12_000),
    ];
    for (const options of [{}, { parseSpecial: true, addSpecialTokens: false }]) {
      const all = await Promise.all(texts.map((text) => encoder.encode(text, options)));
      expect(all).toEqual(texts.map((text) => tokenizer.encode(text, options)));
    }
  });

  it('leaves the calling thread free meanwhile', async () => {
    const encoder = makeEncoder();
    await encoder.encode('x'.repeat(10_000));
    const text = 'ar'.repeat(50_000);
    // The loop keeps turning while the worker is busy; an encode on this thread would let it turn once.
    let turns = 0;
    let isDone = false;
    const turn = (): void => {
      turns += 1;
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    const ids = await encoder.encode(text).finally(() => (isDone = true));
    expect(ids.length).toBe(50_000);
    expect(turns).toBeGreaterThan(20);
  });

  it('refuses after close, and what waited when it closed', async () => {
    const encoder = makeEncoder();
    const waiting = encoder.encode('x'.repeat(100_000));
    const refused = expect(waiting).rejects.toMatchObject({ code: 'shutting_down' });
    await encoder.close();
    await refused;
    await encoder.close();
    await expect(encoder.encode('x')).rejects.toMatchObject({ code: 'illegal_state' });
  });

  it('reports a worker that cannot start, and tries again with the next text', async () => {
    const encoder = makeEncoder('/nowhere');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(encoder.encode('x'.repeat(10_000))).rejects.toMatchObject({ code: 'internal' });
    }
    await expect(encoder.encode('x')).resolves.toEqual(tokenizer.encode('x'));
  });

  it('bounds the texts that wait', async () => {
    const encoder = makeEncoder(dir, { inlineUnits: 10, maxWaiting: 3 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => encoder.encode('y'.repeat(11))),
    );
    const codes = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? 'ok' : (outcome.reason as TokenrailError).code,
    );
    expect(codes).toEqual(['ok', 'ok', 'ok', ...Array<string>(5).fill('overloaded')]);
    await expect(encoder.encode('y'.repeat(11))).resolves.toEqual(tokenizer.encode('y'.repeat(11)));
  });
});
