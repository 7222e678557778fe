/** One way in which requests leave a finished step: how many go to each model, and how likely that is. */
export interface Outcome {
  counts: readonly number[];
  probability: number;
}

/** All ways to send `rows` requests to the models, each by `row` independently (a multinomial law). */
export function outcomes(row: readonly number[], rows: number): Outcome[] {
  const found: Outcome[] = [];
  const counts = new Array<number>(row.length).fill(0);
  const place = (model: number, left: number, probability: number): void => {
    const p = row[model] ?? 0;
    if (model === row.length - 1) {
      if (left > 0 && p === 0) return;
      counts[model] = left;
      found.push({ counts: [...counts], probability: probability * p ** left });
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
  return found;
}

/** {@link outcomes} with a memory: the same few laws occur in every state. */
export class OutcomeTable {
  private readonly routing: readonly (readonly number[])[];
  private readonly known = new Map<number, Outcome[]>();

  constructor(routing: readonly (readonly number[])[]) {
    this.routing = routing;
  }

  of(model: number, rows: number): readonly Outcome[] {
    const key = rows * this.routing.length + model;
    let law = this.known.get(key);
    if (!law) this.known.set(key, (law = outcomes(this.routing[model] ?? [], rows)));
    return law;
  }
}
