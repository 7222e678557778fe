// After `tsc`: copies the .mjs files that processes and workers start from into dist/, beside their compiled twins.
import { cpSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
for (const folder of [
  'core',
  'machines',
  'transport',
  'engine',
  'routers',
  'scheduling',
  'actors',
  'simulation',
  'deploy',
]) {
  for (const file of readdirSync(join(root, folder), { recursive: true })) {
    if (file.endsWith('.mjs')) cpSync(join(root, folder, file), join(root, 'dist', folder, file));
  }
}
