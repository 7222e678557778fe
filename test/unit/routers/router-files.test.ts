import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const moduleUrl = (path: string) => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href);

// No two names differ in the extension alone: tsx takes a .ts before the .js of the same name.
// The test runner has a loader of its own, so the files are loaded by a process that starts as `tokenrail` does.
const LOADER = `
import { importModule } from ${moduleUrl('deploy/import-module.mjs')};
const { loadRouterFactory } = await importModule('./registry', ${moduleUrl('routers/registry.ts')});
const results = {};
for (const use of process.argv.slice(2)) {
  try {
    const factories = [await loadRouterFactory(use, process.cwd()), await loadRouterFactory(use, process.cwd())];
    const [first, second] = factories.map((make, index) => make({ self: index + 1, home: 1, models: [], options: {} }));
    results[use] = { name: first.name, routed: [...first.route([{}, {}])], numLoads: second.numLoads };
  } catch (error) {
    results[use] = { code: error.code, message: error.message, stack: error.stack };
  }
}
process.stdout.write(JSON.stringify(results));
`;

const body = (rows: string) => `{
  return {
    name: here, needs: {}, onHandoff: 'discard', numLoads: globalThis.loads[here],
    route: (${rows}) => rows.map(() => destination),
  };
}`;
const counted = (name: string, any: string) =>
  `const here${any && ': string'} = '${name}';
   (globalThis${any}).loads ??= {}; (globalThis${any}).loads[here] = ((globalThis${any}).loads[here] ?? 0) + 1;`;

const typescript = (name: string, helper: string) => `
import { readFileSync } from 'node:fs';
import { destination } from '${helper}';
import type { Router } from 'a-package-that-is-not-there';
interface Row { readonly rid?: string }
await Promise.resolve();
if (readFileSync(new URL(import.meta.url)).length === 0) throw new Error('import.meta is not of this file');
${counted(name, ' as any')}
export default function make(): unknown ${body('rows: readonly Row[]').replaceAll('globalThis', '(globalThis as any)')}`;

const FILES: Record<string, string> = {
  'typed.ts': typescript('typed.ts', './typed-helper.ts'),
  'typed-helper.ts': 'export const destination: number = 2;',
  'plain.js': `import { destination } from './helper.js';\n${counted('plain.js', '')}\nexport default () => ${body('rows')};`,
  'helper.js': 'export const destination = 2;',
  'common.js': `const { destination } = require('./common-helper.js');\n${counted('common.js', '')}\nmodule.exports = () => ${body('rows')};`,
  'common-helper.js': 'exports.destination = 2;',
  'typed-module.mts': `${typescript('typed-module.mts', './module-helper.mts')}`,
  'module-helper.mts': 'export const destination: number = 2;',
  'module.mjs': `const destination = 2;\n${counted('module.mjs', '')}\nexport default () => ${body('rows')};`,
  'with space/package.json': '{ "type": "module" }',
  'with space/typed in package.ts': typescript('typed in package.ts', './typed-helper.ts'),
  'with space/typed-helper.ts': 'export const destination: number = 2;',
  'with space/in package.js': `import { destination } from './helper.js';\n${counted('in package.js', '')}\nexport default () => ${body('rows')};`,
  'with space/helper.js': 'export const destination = 2;',
  'declared/package.json': '{ "type": "commonjs" }',
  'declared/typed declared.ts': typescript('typed declared.ts', './typed-helper.ts'),
  'declared/typed-helper.ts': 'export const destination: number = 2;',
  'declared/declared.js': `import { destination } from './helper.js';\n${counted('declared.js', '')}\nexport default () => ${body('rows')};`,
  'declared/helper.js': 'export const destination = 2;',
  'throws-later.ts': `interface Gone {\n  a: number;\n}\nexport default () => ({
  name: 'later', needs: {}, onHandoff: 'keep',
  route: (rows: Gone[]): number[] => { throw new TypeError('in line 6'); },\n});`,
  'typed-throws.ts': 'export default (): number => 3; throw new Error("at import");',
  'throws.js': 'export default () => 3; throw new Error("at import");',
  'syntax.ts': 'export default (: number => 3;',
  'no-default.ts': 'export const router = (): number => 3;',
};

type Loaded = Record<
  string,
  { name?: string; routed?: number[]; numLoads?: number; code?: string; message?: string; stack?: string }
>;

let dir = '';
let loaded: Loaded = {};
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tokenrail-router-files-'));
  for (const [name, source] of Object.entries({ ...FILES, 'load.mjs': LOADER })) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), source);
  }
  const uses = Object.keys(FILES).filter((name) => !/helper|json/.test(name));
  const { stdout } = await run(process.execPath, ['load.mjs', ...uses], { cwd: dir });
  loaded = JSON.parse(stdout) as Loaded;
}, 60_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('router files outside any package of ours', () => {
  it.each([
    'typed.ts',
    'plain.js',
    'common.js',
    'typed-module.mts',
    'module.mjs',
    'with space/typed in package.ts',
    'with space/in package.js',
    'declared/typed declared.ts',
    'declared/declared.js',
  ])('%s loads with what it imports, once per process', (use) => {
    const name = use.slice(use.lastIndexOf('/') + 1);
    expect(loaded[use]).toEqual({ name, routed: [2, 2], numLoads: 1 });
  });

  it.each([
    ['typed-throws.ts', /typed-throws\.ts.*cannot be loaded: at import/],
    ['throws.js', /throws\.js.*cannot be loaded: at import/],
    ['syntax.ts', /syntax\.ts.*cannot be loaded.*/],
    ['no-default.ts', /no-default\.ts.*default export must be a function.*undefined/],
  ])('%s is refused by name', (use, message) => {
    expect(loaded[use]).toMatchObject({ code: 'config_invalid' });
    expect(loaded[use]?.message).toMatch(message);
  });

  it('keeps the lines of the file in the stack of what a router throws', () => {
    expect(loaded['throws-later.ts']?.stack).toMatch(/in line 6\n.*throws-later\.ts:6:/);
  });
});
