import { onTestFinished } from 'vitest';
import { TokenrailError } from '../../../../core/errors.ts';
import { silentLogger, type Logger } from '../../../../core/log.ts';
import { SystemClock } from '../../../../core/system-clock.ts';
import type { Engine, SignalNeeds, StepOutcome, StepRow } from '../../../../engine/engine.ts';
import { createOnnxEngine, type OnnxEngineOptions } from '../../../../engine/onnx/index.ts';
import { DEFAULTS } from './golden-run.ts';

export function engineOf(
  modelDir: string,
  options: Partial<OnnxEngineOptions> = {},
  logger: Logger = silentLogger,
): Engine {
  const engine = createOnnxEngine(
    { ...DEFAULTS, modelDir, ...options },
    { logger, clock: new SystemClock() },
  );
  onTestFinished(() => engine.close());
  return engine;
}

export function stepOf(
  engine: Engine,
  rows: readonly StepRow[],
  needs: SignalNeeds = {},
): Promise<StepOutcome> {
  return new Promise((resolve) => engine.step({ rows, needs }, resolve));
}

export async function rowsOf(engine: Engine, rows: readonly StepRow[], needs: SignalNeeds = {}) {
  const outcome = await stepOf(engine, rows, needs);
  if (!outcome.ok) throw outcome.error;
  return outcome.rows;
}

/** The code of the error that `action` throws. */
export function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return error instanceof TokenrailError ? error.code : `not ours: ${String(error)}`;
  }
  return 'accepted';
}

/** The error that a promise is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<TokenrailError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof TokenrailError) return error;
  throw new Error(`rejected with ${String(error)}`);
}
