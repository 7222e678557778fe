import type { Clock } from '../core/clock.ts';
import type { ModelId } from '../core/request.ts';
import type { Engine, EngineInfo, StepBatch, StepOutcome } from '../engine/engine.ts';
import type { Router } from '../routers/router.ts';

/** One step of one replica, as it was. */
export interface StepRecord {
  model: ModelId;
  replica: string;
  startMs: number;
  endMs: number;
  /** Requests in the step, in the order of its rows; prompts that were not read to their end are left out. */
  rids: string[];
  numRows: number;
}

/** Watches the engine and the routers of one replica: which request was in which step, and when. */
export class StepRecorder {
  private readonly clock: Clock;
  private readonly model: ModelId;
  private readonly replica: string;
  private readonly onStep: (record: StepRecord) => void;
  private current: StepRecord | undefined;

  constructor(clock: Clock, model: ModelId, replica: string, onStep: (record: StepRecord) => void) {
    this.clock = clock;
    this.model = model;
    this.replica = replica;
    this.onStep = onStep;
  }

  engine(engine: Engine): Engine {
    return {
      start: (): Promise<EngineInfo> => engine.start(),
      release: (seqs) => engine.release(seqs),
      close: () => engine.close(),
      step: (batch: StepBatch, onDone: (outcome: StepOutcome) => void): void => {
        const startMs = this.clock.nowMs();
        engine.step(batch, (outcome) => {
          const { model, replica, clock } = this;
          const numRows = batch.rows.length;
          this.current = { model, replica, startMs, endMs: clock.nowMs(), rids: [], numRows };
          onDone(outcome); // the rows are routed within, and say whose they are
          this.onStep(this.current);
          this.current = undefined;
        });
      },
    };
  }

  routers(routers: ReadonlyMap<string, Router>): Map<string, Router> {
    const watched = new Map<string, Router>();
    for (const [id, router] of routers) watched.set(id, this.router(router));
    return watched;
  }

  private router(router: Router): Router {
    return {
      ...router,
      route: (rows) => {
        this.current?.rids.push(...rows.map(({ rid }) => rid));
        return router.route(rows);
      },
    };
  }
}
