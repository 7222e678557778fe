// After `tsc`: copies the .mjs files that processes and workers start from into the output folder, beside their
// compiled twins, and the benchmarks' configurations of models. Usage: node deploy/copy-bootstraps.mjs [folder, default dist]
import { cpSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const output = resolve(root, process.argv[2] ?? 'dist');
const folders = [
  'core',
  'machines',
  'transport',
  'engine',
  'routers',
  'scheduling',
  'actors',
  'simulation',
  'deploy',
];
for (const folder of folders) {
  for (const file of readdirSync(join(root, folder), { recursive: true })) {
    if (file.endsWith('.mjs')) cpSync(join(root, folder, file), join(output, folder, file));
  }
}
cpSync(join(root, 'bench', 'fixtures'), join(output, 'bench', 'fixtures'), { recursive: true });
