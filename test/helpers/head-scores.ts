import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { loadHeads } from '../../engine/onnx/heads/load-heads.ts';
import { openHeads } from '../../engine/onnx/heads/open-head.ts';
import { ModelFiles } from '../../engine/onnx/model-files.ts';
import { float32Tensor, openSession } from '../../engine/onnx/runtime/ort-session.ts';
import { WEIGHT } from '../../engine/onnx/weights/weight-names.ts';

/** What a model's run leaves for a head at one position. */
export interface HeadRow {
  hidden: number[];
  /** Descending, as many as the model's top-k is wide. */
  topValues: number[];
  sampled: number;
}

/** A loaded head over an embedding matrix, without a model. */
export interface ScoringHead {
  score(rows: readonly HeadRow[]): number[];
  close(): void;
}

/** @param topKWidth values that each row brings */
export function openScoringHead(
  file: string,
  architecture: string,
  embedding: readonly (readonly number[])[],
  topKWidth: number,
): ScoringHead {
  const opened = openHeads([{ file, architecture }]);
  const files = new ModelFiles();
  const shape = [embedding.length, embedding[0]?.length ?? 0];
  files.weights.add(WEIGHT.embedding, shape, Float32Array.from(embedding.flat()));
  const open = (path: string) => openSession(path, { numThreads: 1, sharesWeights: false });
  const [head] = loadHeads(opened, files, topKWidth, open);
  const matrix = (values: readonly number[][]) =>
    float32Tensor(Float32Array.from(values.flat()), [values.length, values[0]?.length ?? 0]);
  return {
    score: (rows) => {
      const matrices = {
        hidden: matrix(rows.map(({ hidden }) => hidden)),
        topValues: matrix(rows.map(({ topValues }) => topValues)),
      };
      const ids = rows.map(({ sampled }) => sampled);
      return [...(head?.score(matrices, ids) ?? [])];
    },
    close: () => {
      head?.close();
      files.close();
      for (const one of opened) one.file.close();
    },
  };
}

/** A file of inputs and of the scores that PyTorch gave for them. */
export interface HeadCase {
  architecture: string;
  embedding: number[][];
  rows: HeadRow[];
  scores: number[];
}

export function readHeadCase(path: string): HeadCase {
  return JSON.parse(readFileSync(path, 'utf8')) as HeadCase;
}

/** Scores of a case's rows by the head in a file. */
export function scoresOf(file: string, { architecture, embedding, rows }: HeadCase): number[] {
  const head = openScoringHead(file, architecture, embedding, rows[0]?.topValues.length ?? 0);
  try {
    return head.score(rows);
  } finally {
    head.close();
  }
}

// Run by the tests of training/, which compare a converted network of the published size: HEAD.safetensors CASE.json.
const [, script = '', headFile, caseFile] = process.argv;
if (import.meta.url === pathToFileURL(script).href && headFile !== undefined && caseFile !== undefined)
  process.stdout.write(JSON.stringify(scoresOf(headFile, readHeadCase(caseFile))));
