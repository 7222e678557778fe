import { readFileSync } from 'node:fs';

/** The version in package.json, which lies two levels up from the sources and three from the built files. */
export function packageVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Record<
        string,
        unknown
      >;
      if (name === 'tokenrail' && typeof version === 'string') return version;
    } catch {
      // Not here; the next place may have it.
    }
  }
  return 'unknown';
}
