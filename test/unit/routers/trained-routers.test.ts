import { writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { citer } from '../../../routers/citer.ts';
import { coLlm } from '../../../routers/co-llm.ts';
import { r2r } from '../../../routers/r2r.ts';
import type { Router, RouterFactory } from '../../../routers/router.ts';
import { ARCHITECTURE } from '../../helpers/head-files.ts';
import { ScriptedAlgorithms } from '../../helpers/scripted-algorithms.ts';
import { contextOf, rowOf, viewOf } from './rows.ts';

const HOME = 1;
const GUEST = 2;
const algorithms = new ScriptedAlgorithms();
afterAll(() => algorithms.remove());

interface Trained {
  name: string;
  factory: RouterFactory;
  kind: keyof typeof ARCHITECTURE;
  fallback: number;
  /** Destinations at the threshold minus, plus nothing, plus a little. */
  around: number[];
}
const trained: Trained[] = [
  { name: 'r2r', factory: r2r, kind: 'classifier', fallback: 0.5, around: [0, GUEST, GUEST] },
  { name: 'citer', factory: citer, kind: 'mlp', fallback: 0.95, around: [GUEST, 0, 0] },
  { name: 'co-llm', factory: coLlm, kind: 'linear', fallback: 0.5, around: [0, 0, GUEST] },
];
const configError = (pattern: RegExp): Error =>
  expect.objectContaining({
    code: 'config_invalid',
    message: expect.stringMatching(pattern) as string,
  }) as Error;

describe.each(trained)('$name', ({ name, factory, kind, fallback, around }) => {
  const head = algorithms.head(kind);
  const destinationsAround = (router: Router, file: string, threshold: number): number[] =>
    Array.from(
      router.route(
        [threshold - 1e-6, threshold, threshold + 1e-6].map((score) => rowOf({ scores: { [file]: score } })),
      ),
    );

  it('decides at the threshold as documented: the given one, else the file’s, else the published one', () => {
    const withThreshold = algorithms.head(kind, { threshold: '0.25' });
    expect(destinationsAround(factory(contextOf(HOME, { head })), head, fallback)).toEqual(around);
    const stored = factory(contextOf(HOME, { head: withThreshold }));
    expect(destinationsAround(stored, withThreshold, 0.25)).toEqual(around);
    const given = factory(contextOf(HOME, { head: withThreshold, threshold: 0.7 }));
    expect(destinationsAround(given, withThreshold, 0.7)).toEqual(around);
  });

  it('sends NaN to the large model, discards at the home, and returns from the guest with its token', () => {
    const home = factory(contextOf(HOME, { head }));
    expect(home.route([rowOf({ scores: { [head]: NaN } })])).toEqual([GUEST]);
    expect([home.name, home.onHandoff]).toEqual([name, 'discard']);
    const guest = factory(contextOf(GUEST, { head }));
    expect(guest.route([rowOf({ normalizedEntropy: NaN }), rowOf()])).toEqual([HOME, HOME]);
    expect([guest.onHandoff, guest.needs]).toEqual(['keep', {}]);
  });

  it('asks the engine for its head alone, and only at the home', () => {
    const { needs } = factory(contextOf(HOME, { head }));
    expect(needs).toEqual({ heads: [{ file: head, architecture: ARCHITECTURE[kind] }] });
    // A guest elsewhere has no such file, and needs none.
    expect(() => factory(contextOf(GUEST, { head: '/nowhere/at/all.safetensors' }))).not.toThrow();
  });

  it('finds its file beside the configuration', () => {
    const context = { ...contextOf(HOME, { head: basename(head) }), baseDir: dirname(head) };
    expect(factory(context).needs.heads?.[0]?.file).toBe(head);
  });

  it('refuses a file that is missing, damaged, of another network or with a senseless threshold', () => {
    const make = (file: unknown) => () => factory(contextOf(HOME, { head: file }));
    const message = (problem: string): Error =>
      configError(new RegExp(`router ${name}: option "head" ${problem}`));
    expect(make(undefined)).toThrow(message(''));
    expect(make(7)).toThrow(message('must be the path of a file, not 7'));
    expect(make('/nowhere.safetensors')).toThrow(message('cannot be read: .*nowhere'));
    const damaged = algorithms.head(kind, { note: 'damaged' });
    writeFileSync(damaged, 'no tensors here');
    expect(make(damaged)).toThrow(message('cannot be read'));
    const other = algorithms.head(kind === 'mlp' ? 'linear' : 'mlp');
    expect(make(other)).toThrow(message(`.* holds .*, this router needs ${ARCHITECTURE[kind]}`));
    expect(make(algorithms.head(kind, { threshold: 'high' }))).toThrow(
      message('.* has the threshold "high"'),
    );
    for (const blank of ['', ' '])
      expect(make(algorithms.head(kind, { threshold: blank, note: 'blank' }))).toThrow(
        message(`.* has the threshold "${blank}"`),
      );
  });

  it.each<[string, string]>([
    ['null', 'holds no named architecture'],
    ['[]', 'holds no named architecture'],
    ['{"__metadata__":null}', 'holds no named architecture'],
    ['{"__metadata__":"x"}', 'cannot be read: "__metadata__" .* is no object'],
    ['{"__metadata__":{"threshold":0.5}}', 'cannot be read: "threshold" .* is no text'],
    ['{"__metadata__"', 'cannot be read: the header .* is not valid JSON'],
  ])('refuses a file with the header %s', (header, problem) => {
    const file = algorithms.head(kind, { note: 'header' });
    const prefix = Buffer.alloc(8);
    prefix.writeBigUInt64LE(BigInt(header.length));
    writeFileSync(file, Buffer.concat([prefix, Buffer.from(header)]));
    expect(() => factory(contextOf(HOME, { head: file }))).toThrow(
      configError(new RegExp(`router ${name}: option "head" .*${problem}`)),
    );
  });
});

describe('co-llm', () => {
  const head = algorithms.head('linear');

  it('wants a head or a deferral token, not both', () => {
    const message = configError(/"head" or "deferToken" must be given/);
    expect(() => coLlm(contextOf(HOME, {}))).toThrow(message);
    expect(() => coLlm(contextOf(HOME, { head, deferToken: 9 }))).toThrow(message);
    expect(() => coLlm(contextOf(HOME, { head, strategy: 'mix' }))).toThrow(
      configError(/"strategy" must be one of defer, compose, not "mix"/),
    );
  });

  it('composes nothing where nothing fit came along: the assistant’s own token', () => {
    const guest = coLlm(contextOf(GUEST, { strategy: 'compose' }));
    const mix = { deferProb: 0.1, ids: [5], probabilities: [1] };
    const row = rowOf({
      sampled: 4,
      topIds: Int32Array.of(4),
      topValues: Float32Array.of(0),
      logSumExp: 0,
    });
    expect(guest.choose?.({ ...row, algo: mix })).toBe(5);
    expect(guest.choose?.(row)).toBe(4);
    expect(guest.choose?.({ ...row, algo: { ...mix, deferProb: NaN } })).toBe(4);
    expect(guest.choose?.({ ...row, algo: { deferProb: 0.1 } })).toBe(4);
    expect(guest.choose?.({ ...row, algo: mix, numSinceArrival: 1 })).toBe(4);
  });

  it('sends what the base thinks of with the row that leaves, and without a row the plain suffix', () => {
    const home = coLlm(contextOf(HOME, { head, strategy: 'compose' }));
    expect(home.needs).toMatchObject({ topK: 64 });
    expect(home.send?.(viewOf([1, 2, 3], { 2: 2 }), GUEST)).toEqual({ suffix: [3], loc: 3 });
  });
});
