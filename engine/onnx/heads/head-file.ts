import { checkpointError } from '../checkpoint/checkpoint-error.ts';
import { SafetensorsFile } from '../checkpoint/safetensors-file.ts';
import { toFloat32 } from '../checkpoint/to-float32.ts';

/** Tensors that files may hold and nobody reads: the model brings its own embedding. */
const EMBEDDING_COPY = 'token_embeddings.weight';

/** A head's safetensors file. Every error names it. */
export class HeadFile {
  readonly path: string;
  readonly architecture: string;
  private readonly file: SafetensorsFile;

  private constructor(file: SafetensorsFile, architecture: string) {
    this.path = file.path;
    this.file = file;
    this.architecture = architecture;
  }

  /** @throws TokenrailError `checkpoint_invalid` */
  static open(path: string): HeadFile {
    const file = SafetensorsFile.open(path);
    const architecture = file.metadata.get('architecture');
    if (architecture !== undefined) return new HeadFile(file, architecture);
    file.close();
    throw checkpointError(`${path}: its metadata names no "architecture", so it is not known to be a head`);
  }

  /** Sizes of a tensor with that many dimensions. */
  sizes(name: string, numDimensions: number): readonly number[] {
    const entry = this.file.entries.get(name);
    if (entry === undefined) throw this.wrong(`tensor "${name}" is missing`);
    if (entry.shape.length === numDimensions && entry.shape.every((size) => size > 0)) return entry.shape;
    throw this.wrong(
      `tensor "${name}" has shape [${entry.shape.join(', ')}], not ${numDimensions} dimensions`,
    );
  }

  has(name: string): boolean {
    return this.file.entries.has(name);
  }

  /** Ids of the embedding or logits that the head was trained with, where the file tells. */
  get vocabSize(): number | undefined {
    const copied = this.file.entries.get(EMBEDDING_COPY)?.shape[0];
    return copied ?? (this.file.metadata.has('vocab_size') ? this.number('vocab_size', NaN) : undefined);
  }

  /** A number of the metadata. */
  number(key: string, fallback: number): number {
    const text = this.file.metadata.get(key);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (text.trim() !== '' && Number.isFinite(value)) return value;
    throw this.wrong(`metadata "${key}" must be a number, found "${text}"`);
  }

  /** Refuses a file with a tensor too few, too many, or of another shape. */
  checkTensors(expected: ReadonlyMap<string, readonly number[]>): void {
    for (const [name, shape] of expected) {
      const found = this.sizes(name, shape.length);
      if (shape.every((size, i) => size === found[i])) continue;
      throw this.wrong(`tensor "${name}" has shape [${found.join(', ')}], expected [${shape.join(', ')}]`);
    }
    const unknown = [...this.file.entries.keys()].find(
      (name) => !expected.has(name) && name !== EMBEDDING_COPY,
    );
    if (unknown !== undefined)
      throw this.wrong(`tensor "${unknown}" does not belong to the architecture ${this.architecture}`);
  }

  /** A tensor as float32, row by row. */
  read(name: string): Float32Array {
    const entry = this.file.entries.get(name);
    if (entry === undefined) throw this.wrong(`tensor "${name}" is missing`);
    const values = toFloat32(this.file.readBytes(entry), entry.dtype);
    const index = values.findIndex((value) => !Number.isFinite(value));
    if (index >= 0) throw this.wrong(`tensor "${name}" holds ${values[index]} at index ${index}`);
    return values;
  }

  close(): void {
    this.file.close();
  }

  wrong(problem: string): Error {
    return checkpointError(`${this.path}: ${problem}`);
  }
}
