import { describe, expect, it } from 'vitest';
import type { RowResult, StepRow } from '../../../engine/engine.ts';
import { createSimulatedEngine, type SimulatedEngineOptions } from '../../../engine/simulated/index.ts';
import { VirtualClock } from '../../../simulation/index.ts';

const sampling = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 3 };

async function started(options: Partial<SimulatedEngineOptions> = {}) {
  const clock = new VirtualClock();
  const engine = createSimulatedEngine({ modelId: 1, stepTime: { baseMs: 6 }, ...options }, { clock });
  const info = await engine.start();
  /** One step; its results and how long it took. */
  const step = (rows: Partial<StepRow>[]): { rows: readonly RowResult[]; tookMs: number } => {
    const beganMs = clock.nowMs();
    let done: readonly RowResult[] | undefined;
    const complete = rows.map((row) => ({ seq: 1, past: 0, tokens: [1], sample: true, sampling, ...row }));
    engine.step({ rows: complete, needs: {} }, (outcome) => {
      if (!outcome.ok) throw outcome.error;
      done = outcome.rows;
    });
    expect(done).toBeUndefined();
    while (clock.step());
    return { rows: done ?? [], tookMs: clock.nowMs() - beganMs };
  };
  const token = (row: Partial<StepRow>): number => {
    const [result] = step([row]).rows;
    return result?.ok === true ? result.sampled : NaN;
  };
  return { engine, info, step, token };
}

describe('SimulatedEngine', () => {
  it('says that it is simulated, wherever it is described', async () => {
    const { info } = await started();
    expect(info.kind).toBe('simulated');
    expect(info.notes.join()).toContain('simulated');
  });

  it('takes base + rows + missed tokens + prompt tokens', async () => {
    const stepTime = { baseMs: 5, perRowMs: 0.5, perTokenMs: 0.1, prefillPerTokenMs: 0.01 };
    const { step } = await started({ stepTime });
    const prompt = Array.from({ length: 11 }, (_, i) => i);
    expect(step([{ tokens: prompt, sample: false }]).tookMs).toBeCloseTo(5.5 + 0.1, 6);
    expect(step([{ past: 11, tokens: prompt }]).tookMs).toBeCloseTo(5.5 + 0.1, 6); // the prompt's end is prompt too
    expect(step([{ past: 22, tokens: [1, 2, 3] }, { seq: 2 }]).tookMs).toBeCloseTo(6 + 0.2, 6);
  });

  it('jitters with the given spread, the same in every run', async () => {
    const times = async (): Promise<number[]> => {
      const { step } = await started({ stepTime: { baseMs: 10, jitter: 0.1 }, seed: 4 });
      return Array.from({ length: 400 }, (_, i) => step([{ past: 0, tokens: [i % 9] }]).tookMs);
    };
    const [first, second] = [await times(), await times()];
    expect(first).toEqual(second);
    const mean = first.reduce((a, b) => a + b, 0) / 400;
    const deviation = Math.sqrt(first.reduce((sum, t) => sum + (t - mean) ** 2, 0) / 400);
    expect(mean).toBeGreaterThan(9.8);
    expect(mean).toBeLessThan(10.2);
    expect(deviation).toBeGreaterThan(0.85);
    expect(deviation).toBeLessThan(1.15);
  });

  it('answers by the whole sequence: every token and its place count', async () => {
    const { token } = await started();
    const whole = token({ tokens: [5, 6, 7] });
    expect(token({ seq: 2, tokens: [5, 6] })).not.toBe(whole);
    expect(token({ seq: 2, past: 2, tokens: [7] })).toBe(whole); // in parts, the same
    expect(token({ seq: 3, tokens: [6, 5, 7] })).not.toBe(whole);
    expect(token({ past: 2, tokens: [8] })).not.toBe(whole);
    expect(token({ past: 1, tokens: [6, 7] })).toBe(whole); // after a rollback
  });

  it('a lost rollback shows', async () => {
    const { token } = await started();
    token({ tokens: [5, 6, 7] });
    const right = token({ past: 2, tokens: [9] });
    expect(token({ past: 3, tokens: [9] })).not.toBe(right);
  });

  it('models differ, and end ids are never written', async () => {
    const other = await started({ modelId: 2 });
    const one = await started();
    const rows = Array.from({ length: 30 }, (_, i) => [i, i + 1]);
    expect(rows.map((tokens) => one.token({ tokens }))).not.toEqual(
      rows.map((tokens) => other.token({ tokens })),
    );
    const few = await started({ vocabSize: 4, eosIds: [0, 2] });
    const written = new Set(rows.map((tokens) => few.token({ tokens: tokens.map((id) => id % 4) })));
    expect([...written].sort()).toEqual([1, 3]);
  });

  it('refuses what no cache could answer', async () => {
    const { engine, step } = await started({ maxNumSeqs: 2, maxModelLenTokens: 10 });
    step([{ tokens: [1, 2] }]);
    const bad = (rows: Partial<StepRow>[]) => () =>
      engine.step(
        {
          rows: rows.map((row) => ({ seq: 1, past: 0, tokens: [1], sample: true, sampling, ...row })),
          needs: {},
        },
        () => {},
      );
    expect(bad([{ past: 3 }])).toThrow('past 3 of 2');
    expect(bad([{ seq: 9, past: 1 }])).toThrow('past 1 of 0');
    expect(bad([{ tokens: [] }])).toThrow('no token');
    expect(bad([{}, {}])).toThrow('twice');
    expect(bad([{ seq: 1 }, { seq: 2 }, { seq: 3 }])).toThrow('1 to 2 rows');
    expect(bad([{ tokens: Array.from({ length: 11 }, () => 1) }])).toThrow('longer than 10');
    engine.release([1]);
    expect(bad([{ past: 2 }])).toThrow('past 2 of 0');
  });

  it('has one step at a time, and closes after it', async () => {
    const clock = new VirtualClock();
    const engine = createSimulatedEngine({ modelId: 1, stepTime: { baseMs: 6 } }, { clock });
    const batch = { rows: [{ seq: 1, past: 0, tokens: [1], sample: true, sampling }], needs: {} };
    expect(() => engine.step(batch, () => {})).toThrow('new');
    await engine.start();
    const order: string[] = [];
    engine.step(batch, () => order.push('step'));
    expect(() => engine.step(batch, () => {})).toThrow('busy');
    const closed = engine.close().then(() => order.push('closed'));
    while (clock.step());
    await closed;
    expect(order).toEqual(['step', 'closed']);
    expect(() => engine.step(batch, () => {})).toThrow('closed');
  });

  it('names what is wrong with its options, and refuses routers that read logits', () => {
    const make = (options: Partial<SimulatedEngineOptions>) => () =>
      createSimulatedEngine(
        { modelId: 1, stepTime: { baseMs: 6 }, ...options },
        { clock: new VirtualClock() },
      );
    expect(make({ stepTime: { baseMs: 0 } })).toThrow('baseMs');
    expect(make({ stepTime: { baseMs: 1, perRowMs: -1 } })).toThrow('perRowMs');
    expect(make({ stepTime: { baseMs: 1, jitter: 2 } })).toThrow('jitter');
    expect(make({ vocabSize: 2, eosIds: [0, 1] })).toThrow('no token is left');
    expect(make({ maxNumSeqs: 0 })).toThrow('maxNumSeqs');
    expect(make({ needs: { hidden: true } })).toThrow('hidden');
    expect(make({ needs: { hidden: false } })).not.toThrow();
  });
});
