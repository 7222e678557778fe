import { binding, initOrt } from 'onnxruntime-node/dist/binding.js';

/** A tensor as the native binding takes it; no class needed. */
export interface RawTensor {
  readonly type: 'float32' | 'int32' | 'int64';
  readonly dims: readonly number[];
  readonly data: Float32Array | Int32Array | BigInt64Array;
  readonly location: 'cpu';
}

export type Feeds = Record<string, RawTensor>;
/** Outputs to produce: into the given tensor, or (null) into a fresh one. */
export type Fetches = Record<string, RawTensor | null>;
export type RunResult = Record<string, RawTensor>;

/** What the runner needs of a session; tests put their own in its place. */
export interface Session {
  run(feeds: Feeds, fetches: Fetches): RunResult;
  dispose(): void;
}

export interface SessionOptions {
  numThreads: number;
  /** Keep weights as they lie in the mapped file, shared by all sessions over it. */
  sharesWeights: boolean;
}

export function float32Tensor(data: Float32Array, dims: readonly number[]): RawTensor {
  return { type: 'float32', data, dims, location: 'cpu' };
}

/**
 * Opens a model file. Uses the package's binding object rather than its public class: `run()` of both blocks the
 * thread, but the class defers it with `setImmediate` and wants `Tensor` objects. The package is pinned to one version.
 */
export function openSession(modelPath: string, options: SessionOptions): Session {
  initOrt();
  const native = new binding.InferenceSession();
  native.loadModel(modelPath, {
    intraOpNumThreads: options.numThreads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    logSeverityLevel: 4,
    // Plans are kept per input shape for ever, and ragged steps have endless shapes.
    enableMemPattern: false,
    extra: {
      session: {
        // Spinning threads steal the cores of the model beside us.
        intra_op: { allow_spinning: '0' },
        disable_prepacking: options.sharesWeights ? '1' : '0',
      },
    },
  });
  type NativeFeeds = Parameters<typeof native.run>[0];
  type NativeFetches = Parameters<typeof native.run>[1];
  return {
    run: (feeds, fetches) =>
      native.run(
        feeds as unknown as NativeFeeds,
        fetches as unknown as NativeFetches,
        {},
      ) as unknown as RunResult,
    dispose: () => native.dispose(),
  };
}
