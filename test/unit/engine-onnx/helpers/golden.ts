import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SafetensorsFile } from '../../../../engine/onnx/checkpoint/safetensors-file.ts';
import { toFloat32 } from '../../../../engine/onnx/checkpoint/to-float32.ts';

export const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url));
export const GOLDEN_DIR = join(REPOSITORY, 'test/fixtures/golden');

export const TINY = ['llama', 'llama-tied', 'qwen2', 'qwen3'] as const;
export const EMBEDDED = ['embedded-small', 'embedded-large'] as const;

export interface GoldenSequence {
  ids: number[];
  /** [n, vocabSize] */
  logits: Float32Array;
  /** [n, hiddenSize] */
  hidden: Float32Array;
}

export interface Golden {
  name: string;
  modelDir: string;
  vocabSize: number;
  hiddenSize: number;
  sequences: GoldenSequence[];
  greedy: { promptIds: number[]; ids: number[]; finish: 'length' | 'stop'; minMargin: number }[];
  greedyMaxTokens: number;
}

interface GoldenJson {
  vocabSize: number;
  hiddenSize: number;
  modelSha256?: string;
  sequences: { ids: number[] }[];
  greedy?: Golden['greedy'];
  greedyMaxTokens?: number;
}

/** What transformers computed for a checkpoint. */
export function loadGolden(name: string): Golden {
  const directory = join(GOLDEN_DIR, name);
  const json = JSON.parse(readFileSync(join(directory, 'golden.json'), 'utf8')) as GoldenJson;
  const modelDir = name.startsWith('embedded-')
    ? join(REPOSITORY, 'models', name.slice('embedded-'.length))
    : directory;
  checkSha(json.modelSha256, join(modelDir, 'model.safetensors'));
  const file = SafetensorsFile.open(join(directory, 'golden.safetensors'));
  const tensor = (key: string): Float32Array => {
    const entry = file.entries.get(key);
    if (entry === undefined) throw new Error(`${file.path} has no ${key}`);
    return toFloat32(file.readBytes(entry), entry.dtype);
  };
  const sequences = json.sequences.map(({ ids }, i) => ({
    ids,
    logits: tensor(`logits.${i}`),
    hidden: tensor(`hidden.${i}`),
  }));
  file.close();
  return {
    name,
    modelDir,
    vocabSize: json.vocabSize,
    hiddenSize: json.hiddenSize,
    sequences,
    greedy: json.greedy ?? [],
    greedyMaxTokens: json.greedyMaxTokens ?? 0,
  };
}

function checkSha(expected: string | undefined, path: string): void {
  if (expected === undefined || !existsSync(path)) return;
  const actual = createHash('sha256').update(readFileSync(path)).digest('hex');
  if (actual !== expected)
    throw new Error(`${path} is not the file its goldens were made from; make them again`);
}
