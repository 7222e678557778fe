import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { routeChecked } from '../../../routers/checked-router.ts';
import { loadRouterFactory } from '../../../routers/registry.ts';
import { contextOf, rowOf } from './rows.ts';
import { SequentialDriver, type ScriptedModel } from './sequential-driver.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const make = async (self: number, options: Record<string, unknown> = {}) =>
  (await loadRouterFactory('./examples/my-router.ts', root))(contextOf(self, options));

describe('examples/my-router.ts', () => {
  it('is the code that docs/writing-a-router.md shows, in about 20 lines', () => {
    const code = readFileSync(new URL('../../../examples/my-router.ts', import.meta.url), 'utf8').trim();
    const page = readFileSync(new URL('../../../docs/writing-a-router.md', import.meta.url), 'utf8');
    expect(page).toContain(`\`\`\`ts\n${code}\n\`\`\``);
    expect(code.split('\n').length).toBeLessThanOrEqual(24);
  });

  it('routes close calls to the large model and clear ones to the small', async () => {
    const rows = [
      [5, 4.5],
      [5, 3],
      [NaN, 1],
    ].map((topValues) => rowOf({ topValues: Float32Array.from(topValues) }));
    const [home, guest] = [await make(1), await make(2)];
    expect([...routeChecked(home, rows, { self: 1, numModels: 2 }).destinations]).toEqual([2, 0, 2]);
    expect([...routeChecked(guest, rows, { self: 2, numModels: 2 }).destinations]).toEqual([0, 1, 0]);
    expect([home.onHandoff, guest.onHandoff, home.needs.topK]).toEqual(['discard', 'keep', 2]);
  });

  it("refuses options that it does not know, by the file's name", async () => {
    await expect(make(1, { minGaps: 3 })).rejects.toThrow(/my-router\.ts.*minGaps/);
    await expect(make(1, { minGap: 'wide' })).rejects.toThrow(/my-router\.ts.*minGap/);
  });

  it('carries a request through both models', async () => {
    const gaps: Record<number, number[]> = { 1: [9, 0.1, 9, 9], 2: [9, 0.5, 9, 9] };
    const modelOf = async (id: number): Promise<ScriptedModel> => ({
      router: await make(id),
      step: (position) => ({
        sampled: position === 6 ? 0 : 10 * id + position,
        row: { topValues: Float32Array.from([gaps[id]?.[position - 3] ?? 9, 0]) },
      }),
    });
    const models = new Map([
      [1, await modelOf(1)],
      [2, await modelOf(2)],
    ]);
    const driver = new SequentialDriver(models, { prompt: [1, 2, 3], eos: 0, home: 1, maxNew: 8 });
    // Position 4 is a close call for both: the large model writes it, stays for one more, and returns.
    expect(driver.run()).toEqual([13, 24, 25, 0]);
  });
});
