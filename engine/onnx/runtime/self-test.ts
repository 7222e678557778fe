import type { RaggedRunner, RunnerRow } from './ragged-runner.ts';
import type { SequenceCache } from './sequence-cache.ts';

const PROMPT_TOKENS = 3;
/** The two paths run the same kernels; anything but rounding is a fault. */
const TOLERANCE = 1e-5;

/**
 * Checks that keys and values are appended in place: a prompt and one more token through both paths must
 * give equal logits, and each append must change exactly the rows it is meant to.
 *
 * @returns undefined if the in-place path works, else what went wrong; `runner.kvPath` is left as found
 */
export function findInPlaceFault(
  runner: RaggedRunner,
  newCache: () => SequenceCache,
  ladderRows: readonly number[],
): string | undefined {
  const before = runner.kvPath;
  try {
    for (const rows of ladderRows) {
      const fault = compareOnGraph(runner, newCache, rows);
      if (fault !== undefined) return `${fault} (graph of ${rows})`;
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    runner.kvPath = before;
  }
}

function compareOnGraph(
  runner: RaggedRunner,
  newCache: () => SequenceCache,
  rows: number,
): string | undefined {
  const [inPlace, copied] = [newCache(), newCache()];
  const feed = (cache: SequenceCache, past: number, tokens: number[]): Float32Array => {
    runner.kvPath = cache === inPlace ? 'in-place' : 'copied';
    const row: RunnerRow = { cache, past, tokens, wanted: 'last' };
    return runner.run([row], rows).outputs.logits(0).slice();
  };
  try {
    const prompt = Array.from({ length: Math.min(PROMPT_TOKENS, inPlace.lengthTokens - 1) }, (_, i) => i);
    const past = prompt.length;
    if (!isClose(feed(inPlace, 0, prompt), feed(copied, 0, prompt))) return 'the logits of a prompt differ';
    if (!isWrittenUpTo(inPlace, past)) return 'a prompt did not fill the key buffer up to its end';
    if (!isClose(feed(inPlace, past, [1]), feed(copied, past, [1])))
      return 'the logits after an append differ';
    if (!isWrittenUpTo(inPlace, past + 1))
      return 'an append did not change just the next row of the key buffer';
    return undefined;
  } finally {
    runner.forget(inPlace);
    runner.forget(copied);
  }
}

/** Whether the first `length` rows of the first layer's keys are set and the row behind them is still zero. */
function isWrittenUpTo(cache: SequenceCache, length: number): boolean {
  const [keys] = cache.keys;
  const headDim = keys?.dims[3] ?? 0;
  const isZero = (row: number) =>
    (keys?.data as Float32Array).subarray(row * headDim, (row + 1) * headDim).every((value) => value === 0);
  if (isZero(length - 1)) return false;
  return length >= cache.lengthTokens || isZero(length);
}

function isClose(a: Float32Array, b: Float32Array): boolean {
  return a.every(
    (value, i) =>
      Object.is(value, b[i]) || Math.abs(value - (b[i] ?? NaN)) <= TOLERANCE * Math.max(1, Math.abs(value)),
  );
}
