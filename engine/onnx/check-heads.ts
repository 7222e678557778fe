import type { HeadSpec } from '../engine.ts';
import { readModelConfig } from './checkpoint/read-config.ts';
import { checkFit, openHeads } from './heads/open-head.ts';

/**
 * Reads head files as a start of the engine would, without the model's weights.
 * @param modelDir checkpoint whose hidden vectors and vocabulary the heads must have been made for
 * @param maskIdsFrom ids from here on are padding. Default: none
 * @throws TokenrailError `checkpoint_invalid` naming the file and the first thing that does not fit
 */
export function checkHeads(specs: readonly HeadSpec[], modelDir: string, maskIdsFrom = Infinity): void {
  const config = readModelConfig(modelDir);
  for (const head of openHeads(specs)) {
    try {
      checkFit(head, config, Math.min(config.vocabSize, maskIdsFrom));
      for (const name of head.shape.tensors.keys()) head.file.read(name);
    } finally {
      head.file.close();
    }
  }
}
