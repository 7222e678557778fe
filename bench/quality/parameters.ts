import { SafetensorsFile } from '../../engine/onnx/checkpoint/safetensors-file.ts';
import { countParameters } from '../../engine/onnx/checkpoint/expected-tensors.ts';
import { readModelConfig } from '../../engine/onnx/checkpoint/read-config.ts';

/** Parameters of a checkpoint by its configuration; tied embeddings count once. @throws TokenrailError `checkpoint_invalid` */
export const modelParameters = (dir: string): number => countParameters(readModelConfig(dir));

/** A copy of the small model's own; nobody reads it. */
const EMBEDDING_COPY = 'token_embeddings.weight';

/** Numbers stored for a router's network. @throws TokenrailError `checkpoint_invalid` naming the file */
export function headParameters(path: string): number {
  const file = SafetensorsFile.open(path);
  const own = [...file.entries].filter(([name]) => name !== EMBEDDING_COPY);
  const sizes = own.map(([, { shape }]) => shape.reduce((product, n) => product * n, 1));
  file.close();
  return sizes.reduce((sum, size) => sum + size, 0);
}
