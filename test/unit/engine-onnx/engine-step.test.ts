import { describe, expect, it } from 'vitest';
import type { StepRow } from '../../../engine/engine.ts';
import { copyOf } from './helpers/checkpoints.ts';
import { rowOf, sampled } from './helpers/core.ts';
import { codeOf, engineOf, rowsOf, stepOf } from './helpers/engine.ts';
import { EMBEDDED, loadGolden } from './helpers/golden.ts';

describe('stepping', () => {
  it.each(EMBEDDED)(
    '%s continues greedily as transformers does, all questions side by side',
    async (name) => {
      const golden = loadGolden(name);
      const engine = engineOf(golden.modelDir, { maxNumSeqs: 8 });
      const { eosIds } = await engine.start();
      const texts = golden.greedy.map(({ promptIds }) => [...promptIds]);
      const fed = texts.map(() => 0);
      const isDone = (i: number): boolean => {
        const made = (texts[i]?.length ?? 0) - (golden.greedy[i]?.promptIds.length ?? 0);
        return made >= golden.greedyMaxTokens || (made > 0 && eosIds.includes(texts[i]?.at(-1) ?? -1));
      };
      for (;;) {
        const alive = [...texts.keys()].filter((i) => !isDone(i));
        if (alive.length === 0) break;
        const rows = alive.map((i) => rowOf(i, fed[i] ?? 0, texts[i]?.slice(fed[i]) ?? []));
        for (const row of await rowsOf(engine, rows)) {
          fed[row.seq] = texts[row.seq]?.length ?? 0;
          texts[row.seq]?.push(sampled(row).sampled);
        }
      }
      for (const [i, text] of texts.entries()) {
        expect(text.slice(golden.greedy[i]?.promptIds.length)).toEqual(golden.greedy[i]?.ids);
      }
    },
  );

  it('calls back once, later, and reports its time', async () => {
    const engine = engineOf(copyOf('llama'));
    await engine.start();
    let calls = 0;
    const outcome = await new Promise<unknown>((resolve) => {
      engine.step({ rows: [rowOf(1, 0, [1])], needs: {} }, (result) => {
        calls += 1;
        resolve(result);
      });
      expect(calls).toBe(0);
    });
    expect(outcome).toMatchObject({ ok: true });
    const { timing } = outcome as { timing: { runMs: number; totalMs: number } };
    expect(timing.runMs).toBeGreaterThan(0);
    expect(timing.totalMs).toBeGreaterThanOrEqual(timing.runMs);
    await stepOf(engine, [rowOf(1, 1, [1])]);
    expect(calls).toBe(1);
  });

  it('refuses what would give garbage', async () => {
    const engine = engineOf(copyOf('llama'), { maxNumSeqs: 3, needs: { topK: 70 } });
    expect(codeOf(() => engine.step({ rows: [rowOf(1, 0, [1])], needs: {} }, () => {}))).toBe(
      'illegal_state',
    );
    await engine.start();
    const refused = (rows: StepRow[], needs = {}) => codeOf(() => engine.step({ rows, needs }, () => {}));
    const illegal: [string, StepRow[], object?][] = [
      ['no rows', []],
      ['too many rows', [1, 2, 3, 4].map((seq) => rowOf(seq, 0, [1]))],
      ['a sequence twice', [rowOf(1, 0, [1]), rowOf(1, 0, [2])]],
      ['no tokens', [rowOf(1, 0, [])]],
      ['a past that was never fed', [rowOf(1, 1, [1])]],
      ['a negative past', [rowOf(1, -1, [1])]],
      ['an id beyond the vocabulary', [rowOf(1, 0, [97])]],
      ['an id that is none', [rowOf(1, 0, [1.5])]],
      [
        'more than the longest sequence',
        [
          rowOf(
            1,
            0,
            Array.from({ length: 257 }, () => 1),
          ),
        ],
      ],
      ['a longer list than the graph has', [rowOf(1, 0, [1])], { topK: 71 }],
    ];
    for (const [what, rows, needs] of illegal)
      expect([what, refused(rows, needs)]).toEqual([what, 'illegal_state']);
    const step = stepOf(engine, [rowOf(1, 0, [1, 2])], { topK: 70 });
    expect(refused([rowOf(2, 0, [1])])).toBe('illegal_state'); // one is in flight
    expect((await step).ok).toBe(true);
    expect(refused([rowOf(1, 3, [1])])).toBe('illegal_state');
    engine.release([1, 999]);
    expect(refused([rowOf(1, 2, [1])])).toBe('illegal_state'); // its KV is gone
  });

  it('brings the whole vocabulary where a router asks for more', async () => {
    const engine = engineOf(copyOf('llama'), { needs: { topK: 100 } });
    await engine.start();
    const row = sampled((await rowsOf(engine, [rowOf(1, 0, [1])], { topK: 100 }))[0]);
    expect([...(row.topIds ?? [])].sort((a, b) => a - b)).toEqual(Array.from({ length: 97 }, (_, id) => id));
  });

  it('leaves the owner’s thread free while it runs', async () => {
    const { modelDir } = loadGolden('embedded-large');
    const engine = engineOf(modelDir, { maxNumSeqs: 8 });
    await engine.start();
    const tokens = Array.from({ length: 512 }, (_, i) => i);
    let isDone = false;
    const step = stepOf(
      engine,
      Array.from({ length: 8 }, (_, seq) => rowOf(seq, 0, tokens)),
    ).then((outcome) => {
      isDone = true;
      return outcome;
    });
    let turns = 0;
    for (; !isDone; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect((await step).ok).toBe(true);
    expect(turns).toBeGreaterThan(50); // a run on this thread would leave two or three
  });

  it('starts a released number afresh', async () => {
    const engine = engineOf(copyOf('llama'));
    await engine.start();
    const [first] = await rowsOf(engine, [rowOf(1, 0, [4, 5, 6])], { logits: true });
    engine.release([1]);
    await rowsOf(engine, [rowOf(2, 0, [9, 9, 9, 9])]);
    const [second] = await rowsOf(engine, [rowOf(1, 0, [4, 5, 6])], { logits: true });
    expect(sampled(second).logits).toEqual(sampled(first).logits);
  });
});
