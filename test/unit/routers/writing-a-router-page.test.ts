import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { firstChecked, receiveChecked, sendChecked } from '../../../routers/checked-hooks.ts';
import { defaultReceive, defaultSend } from '../../../routers/default-hooks.ts';
import { builtInRouters, loadRouterFactory } from '../../../routers/registry.ts';
import type { Router } from '../../../routers/router.ts';
import { contextOf, rowOf, viewOf } from './rows.ts';

const page = readFileSync(new URL('../../../docs/writing-a-router.md', import.meta.url), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, code = '']) => code);
const blockWith = (language: string, text: string): string => {
  const found = blocks(language).find((code) => code.includes(text));
  if (found === undefined) throw new Error(`the page has no ${language} block with ${text}`);
  return found;
};

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tokenrail-page-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ids = fc.array(fc.nat(9), { maxLength: 8 });

describe('docs/writing-a-router.md', () => {
  it('shows hooks that do what the defaults do', async () => {
    writeFileSync(join(dir, 'long-prompts.ts'), blockWith('ts', 'longPrompts'));
    const factory = await loadRouterFactory('./long-prompts.ts', dir);
    const [home, guest] = [factory(contextOf(1)), factory(contextOf(2))] as [Router, Router];
    const scope = { self: 1, numModels: 2 };
    const { sampling } = rowOf();
    const viewWith = (promptLen: number) => ({ ...viewOf([1, 2, 3]), promptLen });
    expect(firstChecked(home, viewWith(201), sampling, scope)).toBe(2);
    expect(firstChecked(home, viewWith(200), sampling, scope)).toBe(0);
    fc.assert(
      fc.property(ids, ids, fc.nat(8), (tokens, suffix, start) => {
        const view = viewOf(tokens, { 2: Math.min(start, tokens.length) });
        expect(sendChecked(home, view, 2)).toEqual(defaultSend(view, 2));
        const incoming = { from: 1, suffix, loc: start + suffix.length };
        expect(receiveChecked(guest, view, incoming)).toEqual(defaultReceive(view, incoming));
      }),
    );
    expect(() => receiveChecked(guest, viewOf([]), { from: 1, suffix: [], loc: 4001 })).toThrow(/too many/);
  });

  it('shows a draw that depends on seed and position, is even and is not correlated', async () => {
    writeFileSync(join(dir, 'draw.ts'), `${blockWith('ts', 'function draw')}\nexport default () => draw;`);
    const { default: make } = (await import(join(dir, 'draw.ts'))) as {
      default: () => (seed: number, position: number) => number;
    };
    const draw = make();
    const numDraws = 20_000;
    const deciles = new Array<number>(10).fill(0);
    let [alongPositions, alongSeeds] = [0, 0];
    for (let i = 0; i < numDraws; i += 1) {
      const here = draw(7, i);
      deciles[Math.floor(here * 10)]! += 1;
      alongPositions += ((here - 0.5) * (draw(7, i + 1) - 0.5) * 12) / numDraws;
      alongSeeds += ((draw(i, 50) - 0.5) * (draw(i + 1, 50) - 0.5) * 12) / numDraws;
    }
    // Four standard deviations of a fair source.
    for (const count of deciles) expect(Math.abs(count - numDraws / 10)).toBeLessThan(4 * 43);
    expect(Math.abs(alongPositions)).toBeLessThan(4 / Math.sqrt(numDraws));
    expect(Math.abs(alongSeeds)).toBeLessThan(4 / Math.sqrt(numDraws));
  });

  it('shows a router that asks for a head where it is used, and goes by its score', async () => {
    writeFileSync(join(dir, 'doubt.ts'), blockWith('ts', 'function doubt'));
    const factory = await loadRouterFactory('./doubt.ts', dir);
    const options = { head: 'mine.safetensors' };
    const home = factory({ ...contextOf(1, options), baseDir: dir });
    const file = join(dir, 'mine.safetensors');
    expect(home.needs).toEqual({ heads: [{ file, architecture: 'LinearHead' }] });
    const rows = [0.5, 0.6, NaN].map((score) => rowOf({ scores: { [file]: score } }));
    expect(home.route(rows)).toEqual([1, 2, 2]);
    const guest = factory(contextOf(2, options));
    expect([guest.needs, guest.route(rows)]).toEqual([{}, [1, 1, 1]]);
  });

  it('shows a configuration whose routers exist', () => {
    const { routers, router } = parse(blockWith('yaml', 'routers:')) as {
      routers: { id: string; use: string; options?: Record<string, unknown> }[];
      router: string;
    };
    expect(routers.map(({ id }) => id)).toContain(router);
    for (const { use, options = {} } of routers) {
      const factory = builtInRouters.get(use);
      if (factory) expect(factory(contextOf(1, options)).name).toBe(use);
      else expect(use).toBe('./examples/my-router.ts');
    }
  });

  it('names every field of a row, of a view and of a handoff', () => {
    const source = readFileSync(new URL('../../../routers/router.ts', import.meta.url), 'utf8');
    for (const name of ['RouteRow', 'SequenceView', 'SendPlan', 'Incoming', 'Router', 'RouterContext']) {
      const body = new RegExp(`interface ${name} {([^]*?)\n}`).exec(source)?.[1] ?? '';
      const fields = [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, field = '']) => field);
      expect(fields.length).toBeGreaterThan(2);
      for (const field of fields) expect(page, `${name}.${field}`).toMatch(new RegExp(`\\b${field}\\b`));
    }
  });
});
