import { TokenrailError } from '../../core/errors.ts';
import { uniform } from '../../core/random.ts';

/** How long a simulated step takes: L(rows, tokens) = base + perRow · rows + perToken · (tokens beyond one per row). */
export interface StepTimeModel {
  /** Fixed part of a step, in milliseconds, > 0. */
  baseMs: number;
  /** More per row, in milliseconds. Default 0. */
  perRowMs?: number;
  /** More per token that a row feeds beyond its first: what it missed while it was away. Default 0. */
  perTokenMs?: number;
  /** The same for tokens of a prompt (all a sequence feeds until it is sampled for the first time). Default 0. */
  prefillPerTokenMs?: number;
  /** Relative standard deviation of the step time (a normal law, cut off at ± 3 deviations and 1 % of the step). Default 0. */
  jitter?: number;
}

/** What a step works on, as {@link stepDurationMs} counts it. */
export interface StepLoad {
  rows: number;
  /** Tokens beyond one per row of sequences that decode. */
  extraTokens: number;
  /** Tokens beyond one per row of sequences that are still reading their prompt. */
  prefillTokens: number;
}

const CUT_OFF_DEVIATIONS = 3;
const SHORTEST_SHARE = 0.01;

/** Without jitter. */
export function meanStepMs(model: StepTimeModel, load: StepLoad): number {
  const { baseMs, perRowMs = 0, perTokenMs = 0, prefillPerTokenMs = 0 } = model;
  return (
    baseMs + perRowMs * load.rows + perTokenMs * load.extraTokens + prefillPerTokenMs * load.prefillTokens
  );
}

/** Duration of the `step`-th step (from 0) of a model, in milliseconds: a pure function of its arguments. */
export function stepDurationMs(
  model: StepTimeModel,
  load: StepLoad,
  draw: { seed: number; step: number; modelId: number },
): number {
  const meanMs = meanStepMs(model, load);
  const { jitter = 0 } = model;
  if (jitter === 0) return meanMs;
  const factor = 1 + jitter * normal(draw);
  return meanMs * Math.max(SHORTEST_SHARE, factor);
}

/** A standard normal number (Box and Muller 1958), cut off. */
function normal({ seed, step, modelId }: { seed: number; step: number; modelId: number }): number {
  // Streams of their own: the routing draws of requests use the plain model ids.
  const first = uniform({ seed, position: step, model: modelId + 0x10000, purpose: 'simulation' });
  const second = uniform({ seed, position: step, model: modelId + 0x20000, purpose: 'simulation' });
  const value = Math.sqrt(-2 * Math.log(1 - first)) * Math.cos(2 * Math.PI * second);
  return Math.max(-CUT_OFF_DEVIATIONS, Math.min(CUT_OFF_DEVIATIONS, value));
}

/** @throws TokenrailError `config_invalid` naming the field */
export function checkStepTime(model: StepTimeModel): void {
  const { baseMs, ...others } = model;
  if (!(baseMs > 0) || !Number.isFinite(baseMs)) throw wrong('baseMs', 'must be a positive number', baseMs);
  for (const [name, value] of Object.entries(others)) {
    if (value !== undefined && !(value >= 0 && Number.isFinite(value)))
      throw wrong(name, 'must be a number ≥ 0', value);
  }
  if ((model.jitter ?? 0) > 1) throw wrong('jitter', 'must be at most 1', model.jitter);
}

function wrong(name: string, problem: string, value: unknown): TokenrailError {
  return new TokenrailError('config_invalid', `simulated engine: ${name} ${problem}, not ${String(value)}`, {
    param: name,
  });
}
