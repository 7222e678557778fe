import { describe, expect, it } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { silentLogger } from '../../../core/log.ts';
import { SystemClock } from '../../../core/system-clock.ts';
import type { EngineInfo, StepOutcome } from '../../../engine/engine.ts';
import { startEngineWorker, type EngineWorker } from '../../../engine/onnx/engine-worker.ts';
import { OnnxEngine } from '../../../engine/onnx/onnx-engine.ts';
import { resolveOptions } from '../../../engine/onnx/options.ts';
import type { FromWorker, ToWorker } from '../../../engine/onnx/protocol.ts';
import { copyOf } from './helpers/checkpoints.ts';
import { rowOf } from './helpers/core.ts';
import { DEFAULTS } from './helpers/golden-run.ts';

const INFO: EngineInfo = {
  kind: 'onnx',
  hasRandomWeights: false,
  architecture: 'LlamaForCausalLM',
  numParameters: 1,
  vocabSize: 10,
  hiddenSize: 4,
  maxModelLenTokens: 16,
  maxNumSeqs: 2,
  numKvBlocks: 1,
  blockSizeTokens: 16,
  eosIds: [],
  notes: [],
};

/** A worker whose messages and end the test decides. */
class FakeWorker implements EngineWorker {
  readonly posted: ToWorker[] = [];
  send: (message: FromWorker) => void = () => {};
  end: (error?: Error) => void = () => {};

  post(message: ToWorker): void {
    this.posted.push(message);
  }

  onMessage(listener: (message: FromWorker) => void): void {
    this.send = listener;
  }

  onEnd(listener: (error: Error | undefined) => void): void {
    this.end = listener;
  }
}

function setUp(): { engine: OnnxEngine; worker: FakeWorker } {
  const worker = new FakeWorker();
  return { worker, engine: new OnnxEngine(() => worker, { logger: silentLogger, clock: new SystemClock() }) };
}

async function started(): Promise<{ engine: OnnxEngine; worker: FakeWorker }> {
  const { engine, worker } = setUp();
  const start = engine.start();
  worker.send({ kind: 'started', info: INFO, offered: { topK: 2, heads: [] } });
  await start;
  return { engine, worker };
}

const step = (engine: OnnxEngine): Promise<StepOutcome> =>
  new Promise((resolve) => engine.step({ rows: [rowOf(1, 0, [1])], needs: {} }, resolve));

const codeOf = (outcome: StepOutcome): string =>
  outcome.ok ? 'ok' : outcome.error instanceof TokenrailError ? outcome.error.code : 'not ours';

describe('a worker that fails', () => {
  it('while loading: the start is rejected with its code', async () => {
    const { engine, worker } = setUp();
    const start = engine.start();
    worker.send({ kind: 'failed', code: 'checkpoint_invalid', message: 'weights.bin has 3 bytes' });
    await expect(start).rejects.toMatchObject({
      code: 'checkpoint_invalid',
      message: 'weights.bin has 3 bytes',
    });
    const closed = engine.close();
    worker.end();
    await closed;
    expect(worker.posted).toEqual([]);
  });

  it('dying while loading', async () => {
    const { engine, worker } = setUp();
    const start = engine.start();
    worker.end(new Error('out of memory'));
    await expect(start).rejects.toMatchObject({ code: 'engine_failed' });
    await engine.close();
  });

  it.each([
    [
      'by a message',
      (worker: FakeWorker) => worker.send({ kind: 'failed', code: 'internal', message: 'broken' }),
    ],
    ['by throwing', (worker: FakeWorker) => worker.end(new Error('broken'))],
    ['by ending', (worker: FakeWorker) => worker.end()],
  ])(
    'during a step, %s: that step and all later ones fail, each once and never at once',
    async (_, breakIt) => {
      const { engine, worker } = await started();
      const outcomes: string[] = [];
      engine.step({ rows: [rowOf(1, 0, [1])], needs: {} }, (outcome) => outcomes.push(codeOf(outcome)));
      breakIt(worker);
      worker.end();
      expect(outcomes).toEqual(['engine_failed']);
      let isCalled = false;
      const later = new Promise<StepOutcome>((resolve) =>
        engine.step({ rows: [rowOf(1, 0, [1])], needs: {} }, (outcome) => {
          isCalled = true;
          resolve(outcome);
        }),
      );
      expect(isCalled).toBe(false);
      expect(codeOf(await later)).toBe('engine_failed');
      engine.release([1]);
      await engine.close();
      expect(worker.posted.map(({ kind }) => kind)).toEqual(['step']);
    },
  );

  it('between steps: the next one fails', async () => {
    const { engine, worker } = await started();
    worker.end(new Error('gone'));
    expect(codeOf(await step(engine))).toBe('engine_failed');
    await engine.close();
  });

  it('while closing with a step in flight: the step fails and the close ends', async () => {
    const { engine, worker } = await started();
    const pending = step(engine);
    const closed = engine.close();
    await Promise.resolve();
    worker.end(new Error('gone'));
    expect(codeOf(await pending)).toBe('engine_failed');
    await closed;
  });
});

it('a callback that throws does not keep the engine from closing', async () => {
  const { engine, worker } = await started();
  engine.step({ rows: [rowOf(1, 0, [1])], needs: {} }, () => {
    throw new Error('mine');
  });
  const closed = engine.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(() => worker.send({ kind: 'done', rows: [], timing: { runMs: 1, totalMs: 1 } })).toThrow('mine');
  await new Promise((resolve) => setImmediate(resolve));
  worker.end();
  await closed;
});

it('a slower KV path is warned of', async () => {
  const warnings: object[] = [];
  const worker = new FakeWorker();
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
  const engine = new OnnxEngine(() => worker, { logger, clock: new SystemClock() });
  const start = engine.start();
  const note = 'warning: KV cache: copied every step, slower (why)';
  worker.send({
    kind: 'started',
    info: { ...INFO, notes: [note, 'threads: 1'] },
    offered: { topK: 2, heads: [] },
  });
  expect((await start).notes).toContain(note);
  expect(warnings).toEqual([{ note }]);
});

it('the thread is told to close only after the step in flight', async () => {
  const { engine, worker } = await started();
  const pending = step(engine);
  const closed = engine.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(worker.posted.map(({ kind }) => kind)).toEqual(['step']);
  worker.send({ kind: 'done', rows: [], timing: { runMs: 1, totalMs: 1 } });
  expect((await pending).ok).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(worker.posted.map(({ kind }) => kind)).toEqual(['step', 'close']);
  worker.end();
  await closed;
});

it('a throw inside the real thread arrives as a failure and ends the thread', async () => {
  const worker = startEngineWorker(resolveOptions({ ...DEFAULTS, modelDir: copyOf('llama') }));
  const messages: FromWorker[] = [];
  const ended = new Promise((resolve) => worker.onEnd(resolve));
  await new Promise<void>((resolve) =>
    worker.onMessage((message) => {
      messages.push(message);
      if (message.kind === 'started') worker.post({ kind: 'step', rows: null as never, needs: {} });
      else resolve();
    }),
  );
  expect(await ended).toBeUndefined();
  expect(messages.map(({ kind }) => kind)).toEqual(['started', 'failed']);
  expect(messages[1]).toMatchObject({ code: 'engine_failed' });
});
