import { resolve } from 'node:path';
import type { HeadSpec } from '../../engine.ts';
import type { ModelConfig } from '../checkpoint/model-config.ts';
import { HeadFile } from './head-file.ts';
import type { HeadLayout, HeadShape } from './head-layout.ts';
import { headLayouts } from './layouts/index.ts';

/** A head's file whose tensors are those of its architecture. */
export interface OpenHead {
  spec: HeadSpec;
  file: HeadFile;
  layout: HeadLayout;
  shape: HeadShape;
}

/**
 * Opens the files of all heads; the caller closes them.
 * @throws TokenrailError `checkpoint_invalid` naming the file and the first thing that does not fit
 */
export function openHeads(specs: readonly HeadSpec[]): OpenHead[] {
  const opened: OpenHead[] = [];
  try {
    for (const spec of specs) opened.push(openHead(spec));
    return opened;
  } catch (error) {
    for (const { file } of opened) file.close();
    throw error;
  }
}

function openHead(spec: HeadSpec): OpenHead {
  const file = HeadFile.open(resolve(spec.file));
  try {
    if (spec.architecture !== undefined && spec.architecture !== file.architecture)
      throw file.wrong(`holds the architecture ${file.architecture}, ${spec.architecture} is needed`);
    const layout = headLayouts.get(file.architecture);
    if (layout === undefined) {
      const known = [...headLayouts.keys()].join(', ');
      throw file.wrong(`unknown architecture "${file.architecture}"; known: ${known}`);
    }
    const shape = layout.shapeOf(file);
    file.checkTensors(shape.tensors);
    return { spec, file, layout, shape };
  } catch (error) {
    file.close();
    throw error;
  }
}

/**
 * Refuses a head that was trained beside another model.
 * @param sampledVocab ids without the padding at the vocabulary's end, which may differ
 * @throws TokenrailError `checkpoint_invalid` naming the file and the first difference
 */
export function checkFit({ file, shape }: OpenHead, config: ModelConfig, sampledVocab: number): void {
  if (shape.hiddenSize !== config.hiddenSize)
    throw file.wrong(`made for hidden size ${shape.hiddenSize}, the model has ${config.hiddenSize}`);
  if (shape.topK > sampledVocab)
    throw file.wrong(`reads the ${shape.topK} largest logits, the model has ${sampledVocab} tokens`);
  const { vocabSize } = file;
  if (vocabSize !== undefined && vocabSize !== config.vocabSize && vocabSize !== sampledVocab)
    throw file.wrong(`made for a vocabulary of ${vocabSize}, the model has ${config.vocabSize}`);
}
