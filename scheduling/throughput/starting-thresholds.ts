import { stepMsOf, type CompleteSpec } from './chain-spec.ts';
import { longRunShares } from './long-run.ts';

/**
 * Where a search for thresholds begins: eager; each model's share of the requests while all are busy (for two models
 * ⌈p N (L1 − L0) / (L0 + p (L1 − L0))⌉ at the large one); and thresholds under which models take turns, B0 + B1 = N + 1,
 * the best ones where models share a device.
 */
export function startingThresholds(spec: CompleteSpec): number[][] {
  const numModels = spec.stepMs.length;
  const eager = new Array<number>(numModels).fill(1);
  return unique([eager, shares(spec, 1), shares(spec, 0.5), ...turns(spec)]);
}

/** B_i = the part `scale` of the requests that arrive at a guest while the shortest step repeats. */
function shares({ stepMs, routing, concurrency }: CompleteSpec, scale: number): number[] {
  const visits = longRunShares(routing);
  const lengths = stepMs.map((table) => stepMsOf(table, concurrency));
  const shortest = Math.min(...lengths);
  const extra = lengths.map((length, i) => (visits[i] ?? 0) * (length - shortest));
  const total = visits.reduce((sum, share, i) => sum + share * shortest + (extra[i] ?? 0), 0);
  const wanted = extra.map((part) => Math.max(1, Math.ceil((scale * concurrency * part) / total)));
  return fit(wanted, concurrency);
}

/** One guest at a time holds back nearly everything. */
function turns({ stepMs, concurrency }: CompleteSpec): number[][] {
  const sizes = [1, Math.ceil(concurrency / 4), Math.ceil((5 * concurrency) / 8), concurrency];
  return stepMs.flatMap((_, guest) =>
    guest === 0
      ? []
      : sizes.map((size) =>
          stepMs.map((__, i) => (i === guest ? size : i === 0 ? concurrency + 1 - size : 1)),
        ),
  );
}

/** Takes from the largest thresholds until somebody can start. */
function fit(thresholds: number[], concurrency: number): number[] {
  const fitted = [...thresholds];
  const held = (): number => fitted.reduce((sum, threshold) => sum + threshold - 1, 0);
  while (held() >= concurrency) {
    const largest = fitted.indexOf(Math.max(...fitted));
    fitted[largest] = (fitted[largest] ?? 1) - 1;
  }
  return fitted;
}

function unique(all: number[][]): number[][] {
  return [...new Map(all.map((thresholds) => [thresholds.join(','), thresholds])).values()];
}

/** All thresholds under which somebody can start, Σ (B_i − 1) < N; undefined where they are more than `limit`. */
export function allThresholds(numModels: number, concurrency: number, limit: number): number[][] | undefined {
  let found: number[][] = [[]];
  for (let model = 0; model < numModels; model += 1) {
    found = found.flatMap((thresholds) => {
      const held = thresholds.reduce((sum, threshold) => sum + threshold - 1, 0);
      return Array.from({ length: concurrency - held }, (_, more) => [...thresholds, more + 1]);
    });
    if (found.length > limit) return undefined;
  }
  return found;
}
