import { basename } from 'node:path';
import type { ModelFiles } from '../model-files.ts';
import type { Session } from '../runtime/ort-session.ts';
import { Head } from './head.ts';
import { buildHeadGraph } from './head-graph.ts';
import type { OpenHead } from './open-head.ts';

/** Writes the heads' weights and graphs beside the model's and opens them. */
export function loadHeads(
  opened: readonly OpenHead[],
  files: ModelFiles,
  topKWidth: number,
  open: (path: string) => Session,
): Head[] {
  return opened.map((head, index) => {
    const weight = (tensor: string): string => `head${index}.${tensor}`;
    for (const [name, shape] of head.shape.tensors)
      files.weights.add(weight(name), shape, head.file.read(name));
    const path = files.writeGraph(`head-${index}`, buildHeadGraph(files.weights, head, topKWidth, weight));
    return new Head(head.spec.file, head.shape, open(path));
  });
}

/** For the start-up log. */
export function describeHead({ file, shape }: OpenHead): string {
  let parameters = 0;
  for (const sizes of shape.tensors.values())
    parameters += sizes.reduce((product, size) => product * size, 1);
  return `head: ${basename(file.path)} (${file.architecture}, ${parameters} parameters)`;
}
