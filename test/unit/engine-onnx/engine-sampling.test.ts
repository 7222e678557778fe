import { describe, expect, it } from 'vitest';
import { uniform } from '../../../core/random.ts';
import type { Engine } from '../../../engine/engine.ts';
import { sampleToken } from '../../../engine/sampler.ts';
import { copyOf } from './helpers/checkpoints.ts';
import { GREEDY, rowOf, sampled } from './helpers/core.ts';
import { engineOf, rowsOf } from './helpers/engine.ts';

describe('sampling', () => {
  const sampling = { temperature: 0.8, topP: 0.95, topK: -1, minP: 0, seed: 77 };

  /** 20 tokens, sampled one by one. */
  async function continuation(
    engine: Engine,
    seq: number,
    beside: readonly number[],
    seed = 77,
  ): Promise<number[]> {
    const text = [5, 6, 7];
    let past = 0;
    for (let i = 0; i < 20; i += 1) {
      const others = beside.map((other) => rowOf(other, 0, [other, i]));
      const rows = [...others, rowOf(seq, past, text.slice(past), { sampling: { ...sampling, seed } })];
      past = text.length;
      text.push(sampled((await rowsOf(engine, rows)).at(-1)).sampled);
    }
    return text.slice(3);
  }

  it('depends on seed, position and model, not on the batch or the number of the sequence', async () => {
    const engine = engineOf(copyOf('llama'));
    const otherModel = engineOf(copyOf('llama'), { modelId: 2 });
    await Promise.all([engine.start(), otherModel.start()]);
    const alone = await continuation(engine, 1, []);
    expect(await continuation(engine, 20, [31, 32, 33])).toEqual(alone);
    expect(await continuation(engine, 21, [], 78)).not.toEqual(alone);
    expect(await continuation(otherModel, 1, [])).not.toEqual(alone);
    expect(new Set(alone).size).toBeGreaterThan(3);
  });

  // The fewer ids, the more of the mass lies in the padding.
  it.each([90, 30, 10])(
    'draws among %i ids with the number of its seed, position and model',
    async (maskIdsFrom) => {
      const engine = engineOf(copyOf('llama'), { modelId: 3, topK: 4, maskIdsFrom });
      await engine.start();
      const settings = [
        { temperature: 1, topP: 1, topK: -1, minP: 0 },
        { temperature: 1.7, topP: 0.9, topK: 50, minP: 0.01 },
        { temperature: 0.5, topP: 0.5, topK: -1, minP: 0 },
      ];
      let past = 0;
      for (let seed = 0; seed < 240; seed += 1) {
        const params = { ...(settings[seed % 3] ?? GREEDY), seed };
        const tokens = [seed % 97, 5].slice(0, 1 + (seed % 2));
        const [row] = await rowsOf(engine, [rowOf(1, past, tokens, { sampling: params })], { logits: true });
        const position = past + tokens.length;
        past = position % 200;
        const logits = sampled(row).logits ?? new Float32Array();
        const whole = {
          topValues: new Float32Array(),
          topIds: new Int32Array(),
          logSumExp: 0,
          readLogits: () => logits,
          vocabLimit: maskIdsFrom,
        };
        const u = uniform({ seed, position, model: 3, purpose: 'sample' });
        expect(sampled(row).sampled).toBe(sampleToken(whole, params, u).token);
      }
    },
  );

  it('follows the distribution', async () => {
    const engine = engineOf(copyOf('llama'), { maxNumSeqs: 32 });
    await engine.start();
    const counts = new Map<number, number>();
    let logits = new Float32Array();
    const total = 4096;
    for (let i = 0; i < total; i += 32) {
      const rows = Array.from({ length: 32 }, (_, k) =>
        rowOf(k, 0, [8, 9], { sampling: { ...GREEDY, temperature: 1, seed: i + k } }),
      );
      for (const row of await rowsOf(engine, rows, i === 0 ? { logits: true } : {})) {
        counts.set(sampled(row).sampled, (counts.get(sampled(row).sampled) ?? 0) + 1);
        logits = (sampled(row).logits as Float32Array<ArrayBuffer> | undefined) ?? logits;
      }
    }
    const weights = Array.from(logits, Math.exp);
    const sum = weights.reduce((a, b) => a + b, 0);
    // χ² over the ids with an expected count of at least 20; 6 standard deviations above its mean
    const cells = weights
      .map((w, id) => ({ expected: (total * w) / sum, seen: counts.get(id) ?? 0 }))
      .filter(({ expected }) => expected >= 20);
    const chi2 = cells.reduce((total_, { expected, seen }) => total_ + (seen - expected) ** 2 / expected, 0);
    expect(cells.length).toBeGreaterThan(10);
    expect(chi2).toBeLessThan(cells.length + 6 * Math.sqrt(2 * cells.length));
  });
});
