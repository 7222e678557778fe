import type { HeadLayout } from '../head-layout.ts';
import { batchNormMlp } from './batch-norm-mlp.ts';
import { linearHead } from './linear-head.ts';
import { residualClassifier } from './residual-classifier.ts';

/** The networks that can run as heads, by the `architecture` of their files. */
export const headLayouts: ReadonlyMap<string, HeadLayout> = new Map(
  [linearHead, batchNormMlp, residualClassifier].map((layout) => [layout.architecture, layout]),
);
