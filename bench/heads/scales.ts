import { SMOLLM2_DIR } from '../engine/bench-model.ts';
import { modelDir } from '../lib/model-dir.ts';
import type { HeadSettings } from './measure.ts';

/** A model with the sizes of networks that go with it. */
export interface Scale {
  key: 'smollm2' | 'embedded';
  label: string;
  modelDir: string;
  loadFormat: HeadSettings['loadFormat'];
  /** Widths of R2R's blocks; undefined: as published. */
  classifiers: ReadonlyMap<string, readonly number[] | undefined>;
  /** Whether the bound on what networks may add is checked here. */
  isBounded: boolean;
}

export const SCALES: readonly Scale[] = [
  {
    key: 'smollm2',
    label: "random weights of SmolLM2-135M's shape",
    modelDir: SMOLLM2_DIR,
    loadFormat: 'dummy',
    classifiers: new Map([
      ['r2r, as published (6 blocks of 1024)', undefined],
      ['r2r, 2 blocks of 128', [128, 128]],
    ]),
    isBounded: true,
  },
  {
    key: 'embedded',
    label: 'the embedded small model',
    modelDir: modelDir('small'),
    loadFormat: 'auto',
    classifiers: new Map([['r2r, 2 blocks of 128', [128, 128]]]),
    isBounded: false,
  },
];
