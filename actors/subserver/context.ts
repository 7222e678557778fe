import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import type { ModelId } from '../../core/request.ts';
import type { Engine, EngineInfo } from '../../engine/engine.ts';
import type { KvLedger } from '../../engine/kv.ts';
import type { Router } from '../../routers/router.ts';
import type { Subjects } from '../../transport/subjects.ts';
import type { ModelEstimator } from '../../scheduling/estimate/model-estimator.ts';
import type { Announcer } from './announcer.ts';
import type { BeaconBoard } from './beacon-board.ts';
import type { Counters } from './counters.ts';
import type { CompleteOptions } from './options.ts';
import type { Outbox } from './outbox.ts';
import type { PeerInboxes } from './peer-inboxes.ts';
import type { ReadyQueue } from './ready-queue.ts';
import type { RequestTable } from './request-table.ts';
import type { StepTap } from './step-tap.ts';
import type { UnreachableModels } from './unreachable.ts';

/** What the three loops of a subserver share. Built once the engine is loaded. */
export interface SubserverContext {
  readonly options: CompleteOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly subjects: Subjects;
  readonly engine: Engine;
  readonly info: EngineInfo;
  readonly ledger: KvLedger;
  readonly routers: ReadonlyMap<string, Router>;
  readonly table: RequestTable;
  readonly ready: ReadyQueue;
  readonly outbox: Outbox;
  readonly inboxes: PeerInboxes;
  readonly counters: Counters;
  readonly beacons: BeaconBoard;
  readonly announcer: Announcer;
  /** What this replica measures of its model. */
  readonly estimator: ModelEstimator;
  readonly unreachable: UnreachableModels;
  /** Only where the deployment records. */
  readonly tap?: StepTap;
  readonly modelName: (model: ModelId) => string;
  /** Asks for a look at the queue once the current instant has been handled. */
  readonly wake: () => void;
}
