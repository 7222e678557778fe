import type { ModelId } from '../../core/request.ts';

/**
 * Models that were not to be had a moment ago. Until its time is over nobody is sent there: asking again at every
 * token would cost each request the full time of repeats, and the broker a flood.
 */
export class UnreachableModels {
  private readonly untilMs = new Map<ModelId, number>();

  avoid(model: ModelId, nowMs: number, durationMs: number): void {
    this.untilMs.set(model, Math.max(nowMs + durationMs, this.untilMs.get(model) ?? 0));
  }

  isAvoided(model: ModelId, nowMs: number): boolean {
    const until = this.untilMs.get(model);
    if (until === undefined) return false;
    if (nowMs < until) return true;
    this.untilMs.delete(model);
    return false;
  }

  /** The model has answered. */
  clear(model: ModelId): void {
    this.untilMs.delete(model);
  }
}
