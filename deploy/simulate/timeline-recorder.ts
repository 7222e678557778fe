import type { StepRecord } from '../../simulation/index.ts';

/** One request's part of a step, and since when it had been waiting for it. */
export interface RequestStep {
  model: number;
  /** End of its step before this one; undefined for its first. */
  readyMs: number | undefined;
  startMs: number;
  endMs: number;
}

export interface TimelineRequest {
  rid: string;
  steps: RequestStep[];
}

/** What a timeline shows: steps of replicas and ways of requests, from the start up to `untilMs`. */
export interface Timeline {
  untilMs: number;
  numModels: number;
  steps: readonly StepRecord[];
  requests: readonly TimelineRequest[];
}

/** So many rounds of all models fit on a page. */
const ROUNDS_SHOWN = 10;

/** Keeps the first steps of a run. */
export class TimelineRecorder {
  private readonly untilMs: number;
  private readonly numModels: number;
  private readonly steps: StepRecord[] = [];

  constructor(models: readonly { stepTime: { baseMs: number } }[], untilMs?: number) {
    this.numModels = models.length;
    this.untilMs = untilMs ?? ROUNDS_SHOWN * models.reduce((sum, { stepTime }) => sum + stepTime.baseMs, 0);
  }

  add(record: StepRecord): void {
    if (record.startMs < this.untilMs) this.steps.push(record);
  }

  timeline(): Timeline {
    const byRid = new Map<string, RequestStep[]>();
    const inOrder = [...this.steps].sort((a, b) => a.startMs - b.startMs || a.model - b.model);
    for (const { model, startMs, endMs, rids } of inOrder) {
      for (const rid of rids) {
        const before = byRid.get(rid);
        const step = { model, readyMs: before?.at(-1)?.endMs, startMs, endMs };
        if (before) before.push(step);
        else byRid.set(rid, [step]);
      }
    }
    const requests = [...byRid].map(([rid, steps]) => ({ rid, steps }));
    return { untilMs: this.untilMs, numModels: this.numModels, steps: inOrder, requests };
  }
}
