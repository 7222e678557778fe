/** All ways in which the requests of a finished step leave. */
export interface ArrivalLaw {
  numOutcomes: number;
  /** Outcome o sends counts[o × M + j] requests to model j. */
  counts: Int32Array;
  probability: Float64Array;
}

/**
 * All ways to send `rows` requests to the models, each by `row` independently (a multinomial law).
 * @param negligible outcomes no likelier than this are left out
 */
export function arrivalLaw(row: readonly number[], rows: number, negligible = 0): ArrivalLaw {
  const found: number[] = [];
  const chances: number[] = [];
  const counts = new Array<number>(row.length).fill(0);
  const place = (model: number, left: number, probability: number): void => {
    const p = row[model] ?? 0;
    if (model === row.length - 1) {
      if (left > 0 && p === 0) return;
      counts[model] = left;
      found.push(...counts);
      chances.push(probability * p ** left);
      return;
    }
    let ways = probability; // C(left, n) p^n, step by step
    for (let n = 0; n <= left; n += 1) {
      counts[model] = n;
      place(model + 1, left - n, ways);
      if (p === 0) break;
      ways *= (p * (left - n)) / (n + 1);
    }
    counts[model] = 0;
  };
  place(0, rows, 1);
  return dropNegligible(found, chances, row.length, negligible);
}

/** Leaves outcomes out that are less likely than `negligible` (or than a double can tell from 0); the rest sums to 1. */
function dropNegligible(
  counts: readonly number[],
  chances: readonly number[],
  numModels: number,
  negligible: number,
): ArrivalLaw {
  const kept = [...chances.keys()].filter((o) => (chances[o] ?? 0) > negligible);
  const total = negligible > 0 ? kept.reduce((sum, o) => sum + (chances[o] ?? 0), 0) : 1;
  return {
    numOutcomes: kept.length,
    counts: Int32Array.from(kept.flatMap((o) => counts.slice(o * numModels, (o + 1) * numModels))),
    probability: Float64Array.from(kept, (o) => (chances[o] ?? 0) / total),
  };
}

/** {@link arrivalLaw} with a memory: the same few laws occur in every state. */
export class ArrivalTable {
  private readonly routing: readonly (readonly number[])[];
  private readonly negligible: number;
  private readonly known: ArrivalLaw[][];

  constructor(routing: readonly (readonly number[])[], negligible = 0) {
    this.routing = routing;
    this.negligible = negligible;
    this.known = routing.map(() => []);
  }

  of(model: number, rows: number): ArrivalLaw {
    const laws = this.known[model] ?? [];
    return (laws[rows] ??= arrivalLaw(this.routing[model] ?? [], rows, this.negligible));
  }
}
