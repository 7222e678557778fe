import { DummyWeights } from '../checkpoint/dummy-weights.ts';
import { Checkpoint } from '../checkpoint/checkpoint.ts';
import { EMBEDDING } from '../checkpoint/expected-tensors.ts';
import { readModelConfig } from '../checkpoint/read-config.ts';
import type { HeadSpec } from '../../engine.ts';
import { ModelFiles } from '../model-files.ts';
import { float32Tensor, openSession } from '../runtime/ort-session.ts';
import { WEIGHT } from '../weights/weight-names.ts';
import type { Head } from './head.ts';
import { loadHeads } from './load-heads.ts';
import { checkFit, openHeads } from './open-head.ts';

/** What a head reads of one row that a model computed before. */
export interface KnownRow {
  sampled: number;
  hidden: Float32Array;
  /** Descending; at least as many as {@link OfflineHeads.topK} says. */
  topValues: Float32Array;
}

export interface OfflineHeadsOptions {
  /** Checkpoint of the model that the rows are from: its embedding is read, nothing of it is run. */
  modelDir: string;
  loadFormat: 'auto' | 'dummy';
  heads: readonly HeadSpec[];
  /** Whether embeddings are wanted beside what heads read. */
  wantsEmbedding: boolean;
  /** Ids from here on are padding. */
  maskIdsFrom: number;
}

/** The heads of a model without the model: the same graphs over recorded rows. */
export class OfflineHeads {
  /** Largest logits that the heads read of a row. */
  readonly topK: number;
  /** Token ids are below this. */
  readonly vocabSize: number;
  private readonly heads: ReadonlyMap<string, Head>;
  private readonly files: ModelFiles;

  private constructor(heads: readonly Head[], topK: number, vocabSize: number, files: ModelFiles) {
    this.heads = new Map(heads.map((head) => [head.file, head]));
    this.topK = topK;
    this.vocabSize = vocabSize;
    this.files = files;
  }

  /** @throws TokenrailError `checkpoint_invalid` naming the file and the first thing that does not fit */
  static open({
    modelDir,
    loadFormat,
    heads,
    wantsEmbedding,
    maskIdsFrom,
  }: OfflineHeadsOptions): OfflineHeads {
    const config = readModelConfig(modelDir);
    const opened = openHeads(heads);
    const files = new ModelFiles();
    try {
      for (const head of opened) checkFit(head, config, Math.min(maskIdsFrom, config.vocabSize));
      if (wantsEmbedding || opened.some(({ shape }) => shape.usesEmbedding)) {
        const shape = [config.vocabSize, config.hiddenSize];
        const source =
          loadFormat === 'dummy'
            ? new DummyWeights(0, !config.tieWordEmbeddings)
            : Checkpoint.open(modelDir, config);
        files.weights.add(WEIGHT.embedding, shape, source.read(EMBEDDING, shape));
        source.close();
      }
      const topK = Math.max(0, ...opened.map(({ shape }) => shape.topK));
      const open = (path: string): ReturnType<typeof openSession> =>
        openSession(path, { numThreads: 1, sharesWeights: false });
      const loaded = loadHeads(opened, files, topK, open);
      files.removeNames();
      return new OfflineHeads(loaded, topK, config.vocabSize, files);
    } catch (thrown) {
      files.close();
      throw thrown;
    } finally {
      for (const { file } of opened) file.close();
    }
  }

  /** The score of each row by the head of that file, in [0, 1]. */
  score(file: string, rows: readonly KnownRow[]): Float32Array {
    const head = this.heads.get(file);
    if (head === undefined) throw new Error(`head ${file} was not opened`);
    const matrices = {
      hidden: stacked(rows.map(({ hidden }) => hidden)),
      topValues: stacked(rows.map(({ topValues }) => topValues.subarray(0, this.topK))),
    };
    return head.score(
      matrices,
      rows.map(({ sampled }) => sampled),
    );
  }

  /** Width of the hidden vectors that the head of that file reads, and how many of the largest logits. */
  inputsOf(file: string): { hiddenSize: number; topK: number } | undefined {
    return this.heads.get(file)?.shape;
  }

  /** The model's input embedding of a token. */
  embeddingOf(token: number): Float32Array {
    return this.files.weights.readRow(WEIGHT.embedding, token);
  }

  close(): void {
    for (const head of this.heads.values()) head.close();
    this.files.close();
  }
}

function stacked(rows: readonly Float32Array[]): ReturnType<typeof float32Tensor> {
  const width = rows[0]?.length ?? 0;
  const values = new Float32Array(rows.length * width);
  rows.forEach((row, i) => values.set(row, i * width));
  return float32Tensor(values, [rows.length, width]);
}
