import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HeadSpec } from '../../../engine/engine.ts';
import { OfflineHeads } from '../../../engine/onnx/index.ts';
import {
  ARCHITECTURE,
  classifierTensors,
  linearHeadTensors,
  mlpTensors,
  writeHeadFile,
} from '../../helpers/head-files.ts';
import { RandomHeads } from '../../helpers/random-heads.ts';
import { scratchDir } from './helpers/checkpoints.ts';
import { openCore, rowOf, sampled } from './helpers/core.ts';
import { loadGolden } from './helpers/golden.ts';

const { modelDir, hiddenSize } = loadGolden('embedded-small');
const random = new RandomHeads(11);
const fileOf = (): string => join(scratchDir(), 'head.safetensors');
const heads = (): HeadSpec[] => [
  {
    file: writeHeadFile(fileOf(), classifierTensors(random.classifier(hiddenSize, 100, [48, 32])), {
      architecture: ARCHITECTURE.classifier,
    }),
  },
  { file: writeHeadFile(fileOf(), mlpTensors(random.mlp(hiddenSize)), { architecture: ARCHITECTURE.mlp }) },
  {
    file: writeHeadFile(fileOf(), linearHeadTensors(random.vector(hiddenSize, 0.3), 0.1), {
      architecture: ARCHITECTURE.linear,
    }),
  },
];

const opened = (options: Partial<Parameters<typeof OfflineHeads.open>[0]>): OfflineHeads => {
  const offline = OfflineHeads.open({
    modelDir,
    loadFormat: 'auto',
    heads: [],
    wantsEmbedding: false,
    maskIdsFrom: Infinity,
    ...options,
  });
  onTestFinished(() => offline.close());
  return offline;
};

describe('heads without their model', () => {
  it('score kept vectors as the engine scored the rows', () => {
    const specs = heads();
    const core = openCore(modelDir, { needs: { topK: 100, heads: specs } });
    const prompts = [[5, 6, 7], [9, 10, 11, 12], [20], [8, 7]];
    const batch = prompts.map((ids, i) => rowOf(i, 0, ids));
    const rows = core
      .step(batch, { topK: 100, hidden: true, embedding: true, heads: specs })
      .rows.map(sampled);
    const offline = opened({ heads: specs, wantsEmbedding: true });
    const known = rows.map((row) => ({
      sampled: row.sampled,
      hidden: row.hidden ?? new Float32Array(0),
      topValues: row.topValues ?? new Float32Array(0),
    }));
    for (const { file } of specs) {
      const scores = offline.score(file, known);
      const served = rows.map((row) => row.scores?.[file] ?? NaN);
      scores.forEach((score, i) => expect(Math.abs(score - (served[i] ?? NaN))).toBeLessThan(1e-6));
      expect(new Set(served).size).toBe(served.length); // or a constant would pass
    }
    for (const { sampled: token, embedding } of rows) expect(offline.embeddingOf(token)).toEqual(embedding);
  });

  it('are refused for another model as the engine refuses them', () => {
    const alien = {
      file: writeHeadFile(fileOf(), linearHeadTensors(random.vector(hiddenSize + 1), 0), {
        architecture: ARCHITECTURE.linear,
      }),
    };
    expect(() => opened({ heads: [alien] })).toThrow(/made for hidden size 97, the model has 96/);
  });

  it('need no weights of the model unless they read its embedding', () => {
    const [, mlp, linear] = heads();
    const offline = opened({ heads: [mlp, linear].filter((spec) => spec !== undefined) });
    expect(offline.topK).toBe(0);
    expect(offline.inputsOf(mlp?.file ?? '')).toMatchObject({ hiddenSize, topK: 0 });
    expect(() => offline.score('elsewhere', [])).toThrow(/elsewhere was not opened/);
  });
});
