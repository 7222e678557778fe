import type { Timer } from '../../core/clock.ts';
import { toTokenrailError } from '../../core/errors.ts';
import type { SignalNeeds, StepOutcome } from '../../engine/engine.ts';
import { StepTimeEstimate, type QueueView } from '../../scheduling/index.ts';
import { planBatch, type PlannedRow } from './batch-planner.ts';
import type { SubserverContext } from './context.ts';
import { freeKv } from './ending.ts';
import { failRequest } from './failing.ts';
import { commitStep } from './step-commit.ts';

/** Union of what the routers of this model declared. */
export function unionNeeds(needs: Iterable<SignalNeeds>): SignalNeeds {
  const union: SignalNeeds = {};
  for (const need of needs) {
    if (need.topK !== undefined) union.topK = Math.max(union.topK ?? 0, need.topK);
    if (need.hidden) union.hidden = true;
    if (need.embedding) union.embedding = true;
    if (need.logits) union.logits = true;
  }
  return union;
}

/** Loop 2: chooses rows when the policy says so, has the engine run them, commits what comes back. */
export class DecodingLoop {
  private readonly context: SubserverContext;
  private readonly needs: SignalNeeds;
  private readonly estimate = new StepTimeEstimate();
  private rows: PlannedRow[] | undefined;
  private stepStartedMs = 0;
  private isLookPending = false;
  private isStopped = false;
  private hold: Timer | undefined;
  private onIdle: (() => void) | undefined;

  constructor(context: SubserverContext) {
    this.context = context;
    this.needs = unionNeeds([...context.routers.values()].map((router) => router.needs));
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
    this.context.clock.afterInstant(() => {
      this.isLookPending = false;
      this.look();
    });
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
    const { ready, options, beacons, counters } = this.context;
    this.hold?.cancel();
    this.hold = undefined;
    if (this.isStopped || this.rows) return;
    if (ready.size === 0) {
      this.announce(0, 0);
      return;
    }
    const decision = options.policy.decide(this.view());
    if (decision.kind === 'start') {
      this.start();
      return;
    }
    counters.add('holds');
    this.announce(0, 0);
    beacons.onNews = () => this.wake();
    this.hold = this.context.clock.setTimer(decision.forMs, () => this.wake());
  }

  private view(): QueueView {
    const { clock, ready, info, beacons, table } = this.context;
    const nowMs = clock.nowMs();
    const peers = beacons.peers();
    const own = { alive: table.size, atHome: table.numAtHome, waiting: ready.size };
    return {
      nowMs,
      waiting: ready.size,
      oldestWaitMs: nowMs - (ready.oldestReadyMs ?? nowMs),
      alive: beacons.aliveFor(own.alive, own.atHome),
      maxNumSeqs: info.maxNumSeqs,
      isSystemStalled: beacons.isStalled(own.waiting, own.atHome),
      peers,
    };
  }

  private start(): void {
    const rows = planBatch(this.context);
    if (rows.length === 0) return;
    const { engine, clock, counters } = this.context;
    this.rows = rows;
    this.stepStartedMs = clock.nowMs();
    for (const { request } of rows) {
      request.isInStep = true;
      // Told of changes only: a machine event per row and step would cost more than the rest of the step's handling.
      if (request.lifecycle.state !== 'running.decoding') request.lifecycle.send({ type: 'SCHEDULED' });
    }
    counters.add('steps');
    counters.add('step_rows', rows.length);
    this.announce(rows.length, this.estimate.expectMs(rows.length));
    const batch = rows.map(({ request, past, count, isComplete }) => ({
      seq: request.seq,
      past,
      tokens: request.tokens.slice(past, past + count),
      sample: isComplete,
      sampling: request.init.sampling,
    }));
    counters.add(
      'step_tokens',
      batch.reduce((sum, row) => sum + row.tokens.length, 0),
    );
    this.run(() => engine.step({ rows: batch, needs: this.needs }, (outcome) => this.onDone(outcome)));
  }

  private run(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      this.onDone({ ok: false, error: toTokenrailError(thrown, 'engine_failed') });
    }
  }

  private onDone(outcome: StepOutcome): void {
    const { clock, counters, outbox, logger } = this.context;
    const rows = this.rows ?? [];
    this.rows = undefined;
    const ended = rows.filter(({ request }) => request.isOver); // cancelled while they ran
    for (const { request } of rows) request.isInStep = false;
    this.estimate.observe(rows.length, clock.nowMs() - this.stepStartedMs);
    try {
      if (outcome.ok) {
        counters.add('engine_run_us', Math.round(outcome.timing.runMs * 1000));
        counters.add('engine_step_us', Math.round(outcome.timing.totalMs * 1000));
        commitStep(this.context, rows, outcome.rows);
      } else {
        const error = toTokenrailError(outcome.error, 'engine_failed');
        logger.error({ err: error }, 'step failed');
        for (const { request } of rows) failRequest(this.context, request, error);
      }
    } finally {
      for (const { request } of ended) freeKv(this.context, request);
      outbox.flush();
      this.onIdle?.();
      this.wake();
    }
  }

  private announce(rowsRunning: number, stepLeftMs: number): void {
    const { beacons, ready, table } = this.context;
    beacons.announce({ rowsRunning, stepLeftMs, waiting: ready.size, aliveAtHome: table.numAtHome });
  }
}
