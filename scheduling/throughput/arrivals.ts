/** All ways in which the requests of a finished step leave. */
export interface ArrivalLaw {
  numOutcomes: number;
  /** Outcome o sends counts[o × M + j] requests to model j. */
  counts: Int32Array;
  probability: Float64Array;
}

/** All ways to send `rows` requests to the models, each by `row` independently (a multinomial law). */
export function arrivalLaw(row: readonly number[], rows: number): ArrivalLaw {
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
  return dropImpossible(found, chances, row.length);
}

/** Without outcomes whose probability is too small for a double: they would lead to states that are never seen. */
function dropImpossible(counts: number[], chances: number[], numModels: number): ArrivalLaw {
  const kept = [...chances.keys()].filter((o) => (chances[o] ?? 0) > 0);
  return {
    numOutcomes: kept.length,
    counts: Int32Array.from(kept.flatMap((o) => counts.slice(o * numModels, (o + 1) * numModels))),
    probability: Float64Array.from(kept, (o) => chances[o] ?? 0),
  };
}

/** {@link arrivalLaw} with a memory: the same few laws occur in every state. */
export class ArrivalTable {
  private readonly routing: readonly (readonly number[])[];
  private readonly known: ArrivalLaw[][];

  constructor(routing: readonly (readonly number[])[]) {
    this.routing = routing;
    this.known = routing.map(() => []);
  }

  of(model: number, rows: number): ArrivalLaw {
    const laws = this.known[model] ?? [];
    return (laws[rows] ??= arrivalLaw(this.routing[model] ?? [], rows));
  }
}
