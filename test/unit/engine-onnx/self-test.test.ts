import { describe, expect, it, onTestFinished } from 'vitest';
import { loadModel, type LoadedModel } from '../../../engine/onnx/load-model.ts';
import { resolveOptions } from '../../../engine/onnx/options.ts';
import {
  openSession,
  type Feeds,
  type Fetches,
  type RunResult,
  type Session,
} from '../../../engine/onnx/runtime/ort-session.ts';
import { loadGolden } from './helpers/golden.ts';
import { DEFAULTS, GoldenRun, unload } from './helpers/golden-run.ts';

const golden = loadGolden('llama');

/** The real runtime behind a binding that behaves differently where outputs are to stay in place. */
function loadWith(inPlaceRun: (session: Session, feeds: Feeds, fetches: Fetches) => RunResult): LoadedModel {
  const options = resolveOptions({ ...DEFAULTS, modelDir: golden.modelDir, maxNumSeqs: 8 });
  const model = loadModel(options, (path, settings) => {
    const session = openSession(path, settings);
    return {
      run: (feeds, fetches) =>
        'done' in fetches ? inPlaceRun(session, feeds, fetches) : session.run(feeds, fetches),
      dispose: () => session.dispose(),
    };
  });
  onTestFinished(() => unload(model));
  return model;
}

const isCache = (name: string): boolean => name.startsWith('present_');
const stop = (): never => {
  throw new Error('Non tensor type is temporarily not supported.');
};

describe('the self-test at start', () => {
  it('accepts the binding as it is', () => {
    const model = loadWith((session, feeds, fetches) => session.run(feeds, fetches));
    expect(model.runner.kvPath).toBe('in-place');
    expect(model.notes[0]).toBe('KV cache: in place');
  });

  it.each([
    [
      'a binding that copies instead of stopping',
      (session: Session, feeds: Feeds, fetches: Fetches) => {
        const tensors = Object.fromEntries(Object.entries(fetches).filter(([name]) => name !== 'done'));
        return session.run(feeds, tensors);
      },
    ],
    [
      'another message',
      () => {
        throw new Error('Non tensor type is not supported.');
      },
    ],
    ['stopping before anything was computed', () => stop()],
    [
      'keys and values that go elsewhere',
      (session: Session, feeds: Feeds, fetches: Fetches) => {
        const elsewhere = Object.entries(fetches).map(([name, tensor]) =>
          isCache(name) && tensor !== null
            ? [name, { ...tensor, data: tensor.data.slice() }]
            : [name, tensor],
        );
        return session.run(feeds, Object.fromEntries(elsewhere) as Fetches);
      },
    ],
    [
      'an append that also writes behind its end',
      (session: Session, feeds: Feeds, fetches: Fetches) => {
        const past = feeds['past_key.0.0'];
        (past?.data as Float32Array | undefined)?.fill(9, 5 * 16);
        return session.run(feeds, fetches);
      },
    ],
  ])('falls back with a warning on %s, and the results stay right', (_, inPlaceRun) => {
    const model = loadWith(inPlaceRun);
    expect(model.runner.kvPath).toBe('copied');
    expect(model.notes[0]).toMatch(/^warning: KV cache: copied/);
    const run = new GoldenRun(model, golden, 'copied');
    run.feed([
      { sequence: 1, past: 0, count: 4 },
      { sequence: 2, past: 0, count: 30 },
    ]);
    run.feed([{ sequence: 2, past: 30, count: 1 }]);
    run.feed([
      { sequence: 2, past: 31, count: 41 },
      { sequence: 1, past: 4, count: 5 },
    ]);
    expect(run.positions).toBe(81);
    expect(run.worstLogit).toBeLessThanOrEqual(1e-4);
  });
});

it('both paths give the same bits', () => {
  const model = loadWith((session, feeds, fetches) => session.run(feeds, fetches));
  const errors = (['in-place', 'copied'] as const).map((kvPath) => {
    const run = new GoldenRun(model, golden, kvPath);
    run.feed([{ sequence: 2, past: 0, count: 50 }]);
    for (let past = 50; past < 72; past += 1) run.feed([{ sequence: 2, past, count: 1 }]);
    return [run.worstLogit, run.worstHidden];
  });
  expect(errors[0]).toEqual(errors[1]);
});
