import type { ModelId } from '../../core/request.ts';
import type { Tokens } from '../../transport/messages.ts';

/** What a {@link Tokens} message meant for the log. */
export type AcceptResult =
  | { kind: 'new'; from: number }
  /** Everything in it was known already, or it was empty: a sign of life. */
  | { kind: 'known' }
  /** It starts beyond the end: something before it was lost or comes later. */
  | { kind: 'gap' };

/**
 * The generated tokens of one request in order, with their origins. Messages may come doubled, late or in
 * the wrong order; the log grows only at its end.
 */
export class TokenLog {
  readonly ids: number[] = [];
  readonly models: ModelId[] = [];
  readonly signals: number[] = [];
  private readonly maxTokens: number;

  /** @param maxTokens no home may send more; bounds the memory */
  constructor(maxTokens: number) {
    this.maxTokens = maxTokens;
  }

  get length(): number {
    return this.ids.length;
  }

  accept(message: Tokens): AcceptResult {
    const have = this.ids.length;
    if (message.position > have) return { kind: 'gap' };
    const end = Math.min(message.position + message.ids.length, this.maxTokens);
    if (end <= have) return { kind: 'known' };
    for (let index = have - message.position; index < end - message.position; index += 1) {
      this.ids.push(message.ids[index] ?? 0);
      this.models.push(message.origins.models[index] ?? 0);
      this.signals.push(message.origins.signals[index] ?? Number.NaN);
    }
    return { kind: 'new', from: have };
  }

  /** Drops everything from index `length` on: what a stop string cut off. */
  truncate(length: number): void {
    if (length >= this.ids.length) return;
    this.ids.length = length;
    this.models.length = length;
    this.signals.length = length;
  }

  /** Tokens written by each model. */
  tokensByModel(): Map<ModelId, number> {
    const counts = new Map<ModelId, number>();
    for (const model of this.models) counts.set(model, (counts.get(model) ?? 0) + 1);
    return counts;
  }

  /** Changes of the writing model, the first change away from the home included. */
  writerChanges(home: ModelId): number {
    let changes = 0;
    let writer = home;
    for (const model of this.models) {
      if (model !== writer) changes += 1;
      writer = model;
    }
    return changes;
  }
}
