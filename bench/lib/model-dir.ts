import { join } from 'node:path';
import { packageRoot } from '../../deploy/config/package-root.ts';

/** Folder of an embedded model. */
export const modelDir = (name: string): string => join(packageRoot, 'models', name);
