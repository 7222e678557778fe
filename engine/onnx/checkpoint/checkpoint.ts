import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkpointError } from './checkpoint-error.ts';
import { EMBEDDING, HEAD, expectedTensors } from './expected-tensors.ts';
import { JsonFields } from './json-file.ts';
import type { ModelConfig } from './model-config.ts';
import { SafetensorsFile, type TensorEntry } from './safetensors-file.ts';
import { toFloat32 } from './to-float32.ts';
import type { WeightSource } from './weight-source.ts';

const SINGLE_FILE = 'model.safetensors';
const INDEX_FILE = 'model.safetensors.index.json';
/** Buffers that old exports contain; they are recomputed, never read. */
const IGNORED = /\.rotary_emb\.inv_freq$/;

interface Located {
  file: SafetensorsFile;
  entry: TensorEntry;
}

/** The weights of a checkpoint directory, single file or sharded. Names, shapes and sizes are checked when opened. */
export class Checkpoint implements WeightSource {
  readonly hasOwnHead: boolean;
  private readonly files: readonly SafetensorsFile[];
  private readonly tensors: ReadonlyMap<string, Located>;

  private constructor(
    files: readonly SafetensorsFile[],
    tensors: ReadonlyMap<string, Located>,
    config: ModelConfig,
  ) {
    this.files = files;
    this.tensors = tensors;
    this.hasOwnHead = !config.tieWordEmbeddings || this.hasDifferentHead();
  }

  /** @throws TokenrailError `checkpoint_invalid` */
  static open(modelDir: string, config: ModelConfig): Checkpoint {
    const files: SafetensorsFile[] = [];
    try {
      const tensors = locate(modelDir, files);
      checkTensors(modelDir, tensors, config);
      return new Checkpoint(files, tensors, config);
    } catch (error) {
      for (const file of files) file.close();
      throw error;
    }
  }

  read(name: string, shape: readonly number[]): Float32Array {
    const located = this.tensors.get(name);
    if (located === undefined) throw checkpointError(`tensor "${name}" is missing`);
    checkShape(name, located, shape);
    const values = toFloat32(located.file.readBytes(located.entry), located.entry.dtype);
    if (shape.length > 1 && values.every((value) => value === 0)) {
      throw checkpointError(`${located.file.path}: tensor "${name}" holds nothing but zeros`);
    }
    // Each request would fail with NaN logits, one by one; better not to serve such a model at all. An embedding
    // that is not the head as well spoils only the prompts that hold its bad tokens.
    const spoilsAll = name !== EMBEDDING || !this.hasOwnHead;
    const index = spoilsAll ? values.findIndex((value) => !Number.isFinite(value)) : -1;
    if (index >= 0) {
      throw checkpointError(
        `${located.file.path}: tensor "${name}" holds ${values[index]} at index ${index}`,
      );
    }
    return values;
  }

  close(): void {
    for (const file of this.files) file.close();
  }

  /**
   * Some checkpoints declare a tied head and store one nevertheless. Equal bytes are a tie; different
   * ones are a head of their own, which is also how transformers 5 takes them.
   */
  private hasDifferentHead(): boolean {
    const head = this.tensors.get(HEAD);
    const embedding = this.tensors.get(EMBEDDING);
    if (head === undefined || embedding === undefined) return false;
    if (head.entry.dtype !== embedding.entry.dtype) return true;
    return !Buffer.from(head.file.readBytes(head.entry)).equals(embedding.file.readBytes(embedding.entry));
  }
}

function locate(modelDir: string, files: SafetensorsFile[]): Map<string, Located> {
  const tensors = new Map<string, Located>();
  const indexPath = join(modelDir, INDEX_FILE);
  const singlePath = join(modelDir, SINGLE_FILE);
  if (existsSync(singlePath) || !existsSync(indexPath)) {
    if (!existsSync(singlePath)) {
      const found = readdirSync(modelDir).join(', ');
      throw checkpointError(
        `neither ${singlePath} nor ${INDEX_FILE} exists; the directory holds: ${found || 'nothing'}`,
      );
    }
    const file = SafetensorsFile.open(singlePath);
    files.push(file);
    for (const [name, entry] of file.entries) tensors.set(name, { file, entry });
    return tensors;
  }
  const opened = new Map<string, SafetensorsFile>();
  for (const [name, fileName] of readWeightMap(indexPath)) {
    let file = opened.get(fileName);
    if (file === undefined) {
      file = SafetensorsFile.open(join(modelDir, fileName));
      files.push(file);
      opened.set(fileName, file);
    }
    const entry = file.entries.get(name);
    if (entry === undefined)
      throw checkpointError(`${file.path} does not hold tensor "${name}", which ${INDEX_FILE} places there`);
    tensors.set(name, { file, entry });
  }
  return tensors;
}

function readWeightMap(indexPath: string): [string, string][] {
  const index = JsonFields.read(indexPath);
  const map = index.object('weight_map');
  if (map === undefined) throw index.wrong('weight_map', 'an object', undefined);
  return map.keys().map((name) => {
    const fileName = map.value(name);
    // A shard lies beside its index; anything else would read files outside the checkpoint.
    if (typeof fileName !== 'string' || basename(fileName) !== fileName)
      throw map.wrong(name, 'a plain file name', fileName);
    return [name, fileName];
  });
}

function checkTensors(modelDir: string, tensors: ReadonlyMap<string, Located>, config: ModelConfig): void {
  const expected = expectedTensors(config);
  const missing = [...expected.keys()].filter((name) => !tensors.has(name));
  if (missing.length > 0) {
    throw checkpointError(
      `${modelDir} lacks ${missing.length} of ${expected.size} tensors, the first is "${missing[0]}"`,
    );
  }
  for (const [name, located] of tensors) {
    const shape = name === HEAD ? [config.vocabSize, config.hiddenSize] : expected.get(name);
    if (shape !== undefined) checkShape(name, located, shape);
    else if (!IGNORED.test(name)) {
      throw checkpointError(
        `${located.file.path}: tensor "${name}" is not part of a ${config.architecture} with this config.json`,
      );
    }
  }
}

function checkShape(name: string, located: Located, shape: readonly number[]): void {
  const actual = located.entry.shape;
  if (actual.length === shape.length && actual.every((size, axis) => size === shape[axis])) return;
  throw checkpointError(
    `${located.file.path}: tensor "${name}" has shape [${actual.join(', ')}], config.json asks for [${shape.join(', ')}]`,
  );
}
