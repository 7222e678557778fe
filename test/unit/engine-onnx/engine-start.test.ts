import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { relative } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Engine } from '../../../engine/engine.ts';
import { createOnnxEngine } from '../../../engine/onnx/index.ts';
import { copyOf, editValues, scratchDir } from './helpers/checkpoints.ts';
import { rowOf, sampled } from './helpers/core.ts';
import { engineOf, rejection, rowsOf } from './helpers/engine.ts';
import { REPOSITORY } from './helpers/golden.ts';
import { DEFAULTS } from './helpers/golden-run.ts';

describe('starting', () => {
  it('tells what was loaded', async () => {
    const info = await engineOf(copyOf('llama'), {
      maxNumSeqs: 12,
      blockSizeTokens: 64,
      numKvBlocks: 10,
    }).start();
    expect(info).toMatchObject({
      kind: 'onnx',
      hasRandomWeights: false,
      architecture: 'LlamaForCausalLM',
      vocabSize: 97,
      hiddenSize: 48,
      maxModelLenTokens: 256,
      maxNumSeqs: 12,
      numKvBlocks: 10,
      blockSizeTokens: 64,
      eosIds: [2, 3],
    });
    expect(info.numParameters).toBe(71_856);
    expect(info.notes).toContain('KV cache: in place');
    expect(info.notes).toContain('graphs: 1, 2, 4, 8, 12 rows');
  });

  it('labels random weights and needs nothing but config.json for them', async () => {
    const fixture = `${REPOSITORY}/test/fixtures/golden/llama-tied`;
    const directory = copyOf('llama-tied');
    rmSync(`${directory}/model.safetensors`);
    const engine = engineOf(directory, { loadFormat: 'dummy' });
    const info = await engine.start();
    expect(info.hasRandomWeights).toBe(true);
    expect(info.notes.join()).toContain('random weights');
    const again = engineOf(fixture, { loadFormat: 'dummy' });
    const other = engineOf(fixture, { loadFormat: 'dummy', seedForDummy: 1 });
    await Promise.all([again.start(), other.start()]);
    const logits = async (e: Engine) =>
      sampled((await rowsOf(e, [rowOf(1, 0, [1, 2, 3])], { logits: true }))[0]).logits;
    expect(await logits(engine)).toEqual(await logits(again));
    expect(await logits(engine)).not.toEqual(await logits(other));
  });

  it('finds the checkpoint whatever the path is relative to, and says where it looked', async () => {
    const here = relative(process.cwd(), copyOf('llama'));
    await engineOf(here).start();
    const error = await rejection(engineOf('nowhere/at/all').start());
    expect(error.code).toBe('checkpoint_invalid');
    expect(error.message).toContain(`${process.cwd()}/nowhere/at/all`);
  });

  it('names a wrong option', () => {
    const create = (extra: object) => () =>
      createOnnxEngine(
        { ...DEFAULTS, modelDir: '.', ...extra },
        {} as Parameters<typeof createOnnxEngine>[1],
      );
    expect(create({ maxNumSeqs: 0 })).toThrow(/maxNumSeqs/);
    expect(create({ numThreads: 1.5 })).toThrow(/numThreads/);
    expect(create({ kvCacheMemoryBytes: -1 })).toThrow(/kvCacheMemoryBytes/);
  });

  it('refuses a length beyond the checkpoint’s and a KV memory that holds no block', async () => {
    expect((await rejection(engineOf(copyOf('llama'), { maxModelLenTokens: 257 }).start())).code).toBe(
      'config_invalid',
    );
    expect((await rejection(engineOf(copyOf('llama'), { kvCacheMemoryBytes: 100 }).start())).code).toBe(
      'config_invalid',
    );
  });

  it('says so where a step takes fewer rows than asked for', async () => {
    const info = await engineOf(copyOf('llama'), { maxNumSeqs: 100 }).start();
    expect(info.maxNumSeqs).toBe(32);
    expect(info.notes.join()).toContain('100 asked for');
  });

  it('counts the KV budget in blocks', async () => {
    // 3 layers × keys and values × 2 heads × 16 × 4 bytes = 768 bytes per token
    const info = await engineOf(copyOf('llama'), {
      kvCacheMemoryBytes: 768 * 64 * 5 + 1,
      blockSizeTokens: 64,
    }).start();
    expect(info.numKvBlocks).toBe(5);
  });

  it('refuses weights that are not finite, naming file, tensor and place', async () => {
    for (const value of [NaN, Infinity]) {
      const dir = copyOf('llama');
      editValues(dir, 'model.layers.1.self_attn.q_proj.weight', (values) => values.fill(value, 5, 6));
      const { code, message } = await rejection(engineOf(dir).start());
      expect(code).toBe('checkpoint_invalid');
      expect(message).toContain('q_proj.weight');
      expect(message).toContain('index 5');
    }
  });

  it('leaves no files behind, neither after a start nor after a failed one', async () => {
    const [good, failing, directory] = [copyOf('llama'), copyOf('llama'), scratchDir()];
    // Found only when the weights are converted, after the first files were made.
    editValues(failing, 'model.layers.2.mlp.down_proj.weight', (values) => values.fill(0));
    vi.stubEnv('TMPDIR', directory);
    vi.stubEnv('TEMP', directory);
    onTestFinished(() => void vi.unstubAllEnvs());
    const engine = engineOf(good);
    await engine.start();
    expect((await rejection(engineOf(failing).start())).message).toContain('nothing but zeros');
    const left = () => readdirSync(directory).filter((name) => name.startsWith('tokenrail-'));
    expect(left()).toEqual([]);
    await engine.close();
    expect(tmpdir()).toBe(directory);
    expect(left()).toEqual([]);
  });
});
