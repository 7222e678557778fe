import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Full path of a program on `searchPath`, or undefined. Relative entries are skipped: they depend on where we stand. */
export function findExecutable(name: string, searchPath = process.env['PATH'] ?? ''): string | undefined {
  const names = process.platform === 'win32' ? [`${name}.exe`, name] : [name];
  return searchPath
    .split(delimiter)
    .filter(isAbsolute)
    .flatMap((folder) => names.map((candidate) => join(folder, candidate)))
    .find(isExecutableFile);
}
