import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { builtInRouters, loadRouterFactory } from '../../../routers/registry.ts';
import { ScriptedAlgorithms } from '../../helpers/scripted-algorithms.ts';
import { contextOf, rowsWithEntropy } from './rows.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tokenrail-routers-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let count = 0;
/** Writes a module; each has a name of its own because imports are cached. */
function moduleOf(source: string): string {
  count += 1;
  const name = `./router-${count}.mjs`;
  writeFileSync(join(dir, name), source);
  return name;
}
const configError = (pattern: RegExp): Error =>
  expect.objectContaining({
    code: 'config_invalid',
    message: expect.stringMatching(pattern) as string,
  }) as Error;

const GOOD = `{ name: 'ours', needs: { topK: 4 }, onHandoff: 'keep', route: (rows) => rows.map(() => 0) }`;

describe('loadRouterFactory', () => {
  it('knows the built-in routers by name', async () => {
    const algorithms = new ScriptedAlgorithms();
    const needed: Record<string, Record<string, unknown>> = {
      r2r: { head: algorithms.head('classifier') },
      citer: { head: algorithms.head('mlp') },
      'co-llm': { head: algorithms.head('linear') },
      simulated: {
        routing: [
          [0.5, 0.5],
          [1, 0],
        ],
        commits: [
          [1, 0],
          [1, 0],
        ],
      },
    };
    onTestFinished(() => algorithms.remove());
    for (const [name, factory] of builtInRouters) {
      expect(await loadRouterFactory(name, dir)).toBe(factory);
      expect(factory(contextOf(1, needed[name])).name).toBe(name);
    }
  });

  it('loads a module relative to the base directory, and by absolute path', async () => {
    const use = moduleOf(`export default () => (${GOOD});`);
    for (const path of [use, join(dir, use)]) {
      const router = (await loadRouterFactory(path, dir))(contextOf(1));
      expect(router.name).toBe('ours');
      expect(router.route(rowsWithEntropy(0.1, 0.2))).toEqual([0, 0]);
    }
  });

  it('refuses an unknown name and says which exist', async () => {
    await expect(loadRouterFactory('r-stich', dir)).rejects.toThrow(
      configError(/"r-stich".*r-stitch.*always-small/),
    );
  });

  it('refuses a missing file, a broken module and a wrong default export, naming the file', async () => {
    await expect(loadRouterFactory('./none.ts', dir)).rejects.toThrow(configError(/none\.ts.*no such file/));
    const broken: [string, RegExp][] = [
      ['export default (', /cannot be loaded/],
      ['throw new Error("at import");', /at import/],
      ['export const router = () => {};', /default export.*undefined/],
      ['export default 3;', /default export.*number/],
    ];
    for (const [source, pattern] of broken) {
      const use = moduleOf(source);
      const error: unknown = await loadRouterFactory(use, dir).catch((thrown: unknown) => thrown);
      expect(error).toEqual(configError(pattern));
      expect((error as Error).message).toContain(use.slice(2));
    }
  });

  it('refuses what a factory makes if it is no router, naming the field', async () => {
    const wrong: [string, RegExp][] = [
      ['undefined', /must return a router/],
      ['Promise.reject(new Error("late"))', /synchronous/],
      [`{ ...${GOOD}, name: '' }`, /name/],
      [`{ ...${GOOD}, route: undefined }`, /route must be/],
      [`{ ...${GOOD}, onHandoff: 'drop' }`, /onHandoff/],
      [`{ ...${GOOD}, needs: undefined }`, /needs/],
      [`{ ...${GOOD}, needs: { entropy: true } }`, /needs\.entropy/],
      [`{ ...${GOOD}, needs: { topK: 0 } }`, /needs\.topK/],
      [`{ ...${GOOD}, needs: { hidden: 1 } }`, /needs\.hidden/],
      [`{ ...${GOOD}, send: 3 }`, /send must be/],
    ];
    for (const [router, pattern] of wrong) {
      const factory = await loadRouterFactory(moduleOf(`export default () => (${router});`), dir);
      expect(() => factory(contextOf(1))).toThrow(configError(pattern));
    }
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('gives what a factory throws the name of the file', async () => {
    const use = moduleOf(`export default () => { throw new Error('option "x" is odd'); };`);
    const factory = await loadRouterFactory(use, dir);
    expect(() => factory(contextOf(1))).toThrow(configError(/router-\d+\.mjs.*option "x" is odd/));
  });
});
