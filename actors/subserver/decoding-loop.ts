import type { Timer } from '../../core/clock.ts';
import { toTokenrailError } from '../../core/errors.ts';
import type { RowResult, StepOutcome } from '../../engine/engine.ts';
import type { QueueView } from '../../scheduling/index.ts';
import { planBatch, type PlannedRow } from './batch-planner.ts';
import type { SubserverContext } from './context.ts';
import { freeKv } from './ending.ts';
import { failSafely } from './failing.ts';
import { guarded } from './guarded.ts';
import { commitStep } from './step-commit.ts';
import { stepNeeds } from './step-needs.ts';

/** Rows wait but none gets memory: something else must free it, and tells; this is the safety net. */
const NO_MEMORY_RETRY_MS = 50;

/** Loop 2: chooses rows when the policy says so, has the engine run them, commits what comes back. */
export class DecodingLoop {
  private readonly context: SubserverContext;
  private readonly onStepEnd: () => void;
  private rows: PlannedRow[] | undefined;
  private stepStartedMs = 0;
  /** When choosing its rows began: from there to the end of its commit a step occupies the model. */
  private occupiedSinceMs = 0;
  private othersBusyAtStartMs = 0;
  private isLookPending = false;
  private isEndUntold = false;
  private isStopped = false;
  private hold: Timer | undefined;
  private onIdle: (() => void) | undefined;

  /** @param onStepEnd told after each step, when its rows have been routed and the next one has begun if there is one */
  constructor(context: SubserverContext, onStepEnd: () => void) {
    this.context = context;
    this.onStepEnd = onStepEnd;
    context.beacons.onNews = () => {
      if (this.hold) this.wake();
    };
  }

  get numRowsRunning(): number {
    return this.rows?.length ?? 0;
  }

  /** Time since the step in flight began; 0 when idle. */
  get stepAgeMs(): number {
    return this.rows ? this.context.clock.nowMs() - this.stepStartedMs : 0;
  }

  /** Looks at the queue once the current instant has been handled; any number of calls give one look. */
  wake(): void {
    if (this.isLookPending || this.isStopped) return;
    this.isLookPending = true;
    const { self, deployment } = this.context.options;
    const rank = self === deployment.home ? 0 : self; // the home first, then by id: who decides later sees more
    this.context.clock.afterInstant(() => {
      this.isLookPending = false;
      guarded(this.context.logger, 'choosing rows', () => this.look());
      this.context.outbox.flush();
      this.tellEnd();
    }, rank);
  }

  /** Only now: what is not needed to start the next step must not delay it. */
  private tellEnd(): void {
    if (!this.isEndUntold) return;
    this.isEndUntold = false;
    guarded(this.context.logger, 'planning', this.onStepEnd);
  }

  /** No further steps. Resolves when the step in flight has ended. */
  stop(): Promise<void> {
    this.isStopped = true;
    this.hold?.cancel();
    if (!this.rows) return Promise.resolve();
    return new Promise((resolve) => {
      this.onIdle = resolve;
    });
  }

  private look(): void {
    const { ready, counters } = this.context;
    this.hold?.cancel();
    this.hold = undefined;
    if (this.isStopped || this.rows) return;
    this.occupiedSinceMs = this.context.clock.nowMs();
    if (ready.size === 0) {
      this.announce(0, 0);
      return;
    }
    const forMs = this.holdMs();
    if (forMs === undefined) {
      this.start();
      return;
    }
    counters.add('holds');
    this.announce(0, 0);
    this.lookAgainIn(forMs);
  }

  /** How long the policy wants to wait; undefined = start. A policy that fails must not keep requests waiting. */
  private holdMs(): number | undefined {
    try {
      const decision = this.context.options.policy.decide(this.view());
      return decision.kind === 'hold' ? decision.forMs : undefined;
    } catch (thrown) {
      this.context.logger.error({ err: thrown }, 'the start policy failed');
      return undefined;
    }
  }

  private lookAgainIn(delayMs: number): void {
    this.hold = this.context.clock.setTimer(delayMs, () => this.wake());
  }

  private view(): QueueView {
    const { clock, ready, info, beacons, estimator, table, options } = this.context;
    const nowMs = clock.nowMs();
    beacons.overlapFactor = estimator.overlapFactor;
    const peers = beacons.peers();
    return {
      self: options.self,
      home: options.deployment.home,
      nowMs,
      waiting: ready.size,
      oldestWaitMs: nowMs - (ready.oldestReadyMs ?? nowMs),
      alive: beacons.aliveFor(peers, table.size, table.numAtHome),
      maxNumSeqs: info.maxNumSeqs,
      isSystemStalled: beacons.isStalled(peers, ready.size, table.numAtHome),
      peers,
      stepMs: (rows) => estimator.stepMs(rows),
      stepJitter: estimator.jitter,
      overlapFactor: beacons.overlapFactor,
    };
  }

  private start(): void {
    const rows = planBatch(this.context);
    if (rows.length === 0) {
      this.lookAgainIn(NO_MEMORY_RETRY_MS);
      return;
    }
    this.rows = rows;
    this.stepStartedMs = this.context.clock.nowMs();
    try {
      this.run(rows);
    } catch (thrown) {
      this.onDone({ ok: false, error: toTokenrailError(thrown, 'engine_failed') });
    }
  }

  private run(rows: readonly PlannedRow[]): void {
    const { engine, logger, routers, tap } = this.context;
    const { needs, ofRow } = stepNeeds(
      rows.map(({ request }) => request.init.router),
      tap?.asking ?? routers,
    );
    const batch = rows.map(({ request, past, count, isComplete }, i) => ({
      seq: request.seq,
      past,
      tokens: request.tokens.slice(past, past + count),
      sample: isComplete,
      sampling: request.init.sampling,
      ...(ofRow?.[i] === undefined ? {} : { needs: ofRow[i] }),
    }));
    engine.step({ rows: batch, needs }, (outcome) => this.onDone(outcome));
    guarded(logger, 'telling of a step', () => this.started(rows));
  }

  /** Everything that can wait until the engine works. */
  private started(rows: readonly PlannedRow[]): void {
    const { beacons, counters, estimator } = this.context;
    this.othersBusyAtStartMs = beacons.othersBusyMs;
    beacons.stepStarted();
    for (const { request } of rows) {
      counters.addWait(this.stepStartedMs - request.readySinceMs);
      request.isInStep = true;
      // Told of changes only: a machine event per row and step would cost more than the rest of its handling.
      if (request.lifecycle.state !== 'running.decoding') request.lifecycle.send({ type: 'SCHEDULED' });
    }
    counters.add('steps');
    counters.add('step_rows', rows.length);
    const numTokens = rows.reduce((sum, { count }) => sum + count, 0);
    counters.add('step_tokens', numTokens);
    this.announce(rows.length, estimator.stepMs(rows.length, numTokens));
  }

  private onDone(outcome: StepOutcome): void {
    const { logger, outbox, ready } = this.context;
    const rows = this.rows ?? [];
    this.rows = undefined;
    const ended = rows.filter(({ request }) => request.isOver); // cancelled while they ran
    for (const { request } of rows) request.isInStep = false;
    this.context.beacons.stepEnded();
    guarded(logger, 'committing a step', () => this.apply(rows, outcome));
    guarded(logger, 'freeing KV', () => ended.forEach(({ request }) => freeKv(this.context, request)));
    outbox.flushUrgent();
    if (outcome.ok) this.measure(rows);
    // Those who hold for the end of this step decide in this instant too.
    this.announce(0, 0, ready.size > 0);
    this.isEndUntold = true;
    this.onIdle?.();
    this.wake();
  }

  /**
   * A step takes until its rows are on their way, choosing them included: for models of a millisecond that is a third of it, and
   * no other step can begin meanwhile.
   */
  private measure(rows: readonly PlannedRow[]): void {
    const { beacons, clock, estimator } = this.context;
    estimator.observeStep({
      rows: rows.length,
      tokens: rows.reduce((sum, { count }) => sum + count, 0),
      ms: clock.nowMs() - this.occupiedSinceMs,
      overlapMs: beacons.othersBusyMs - this.othersBusyAtStartMs,
    });
  }

  private apply(rows: readonly PlannedRow[], outcome: StepOutcome): void {
    const { counters, logger } = this.context;
    if (outcome.ok) {
      counters.add('engine_run_us', Math.round(outcome.timing.runMs * 1000));
      counters.add('engine_step_us', Math.round(outcome.timing.totalMs * 1000));
      this.commit(rows, outcome.rows);
      return;
    }
    const error = toTokenrailError(outcome.error, 'engine_failed');
    logger.error({ err: error }, 'step failed');
    for (const { request } of rows) failSafely(this.context, request, error);
  }

  private commit(rows: readonly PlannedRow[], results: readonly RowResult[]): void {
    try {
      commitStep(this.context, rows, results);
    } catch (thrown) {
      // Rows that were not reached are in no queue: without an end they would wait for ever.
      const isLost = ({ request }: PlannedRow): boolean =>
        !request.isOver && request.lifecycle.phase === 'running' && !this.context.ready.has(request);
      for (const { request } of rows.filter(isLost)) failSafely(this.context, request, thrown);
    }
  }

  private announce(rowsRunning: number, stepLeftMs: number, isDeciding = false): void {
    const { announcer, ready, table } = this.context;
    const decides = isDeciding ? { isDeciding } : {};
    announcer.announce({
      rowsRunning,
      stepLeftMs,
      waiting: ready.size,
      aliveAtHome: table.numAtHome,
      ...decides,
    });
  }
}
