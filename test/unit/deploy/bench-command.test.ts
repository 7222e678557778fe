import { readFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { main } from '../../../deploy/cli/main.ts';

afterEach(() => vi.restoreAllMocks());

it('"tokenrail bench" knows every benchmark that the page about them lists, and says what it does', async () => {
  let stdout = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
  expect(await main(['bench'])).toBe(0);
  const page = readFileSync('docs/benchmarks.md', 'utf8');
  const listed = [...page.matchAll(/^\| `([a-z-]+)` \|.*minutes?\b.* \|$/gm)].map(([, name]) => name ?? '');
  expect(listed.length).toBeGreaterThan(7);
  const known = /<([a-z|-]+)>/.exec(stdout)?.[1]?.split('|') ?? [];
  expect([...known].sort()).toEqual([...listed].sort());
  for (const name of known) expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'));
});
