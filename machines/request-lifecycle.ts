import { createActor, type Actor } from 'xstate';
import type { ErrorCode } from '../core/errors.ts';
import type { EndReason, ModelId } from '../core/request.ts';
import { requestMachine, type RequestContext, type RequestEvent } from './request.ts';
import { statePath } from './state-path.ts';

/** Every state of a request, parent first. */
export type RequestState =
  | 'running.queued'
  | 'running.decoding'
  | 'running.preempted'
  | 'pending.handedOff'
  | 'pending.evicted'
  | 'finished.completed'
  | 'finished.aborted'
  | 'finished.failed'
  | 'finished.released';

/** `running`: here; `pending`: at another model; `finished`: over, for good. */
export type RequestPhase = 'running' | 'pending' | 'finished';

/** A request's state at one subserver, backed by one actor that ends with the request. */
export interface RequestLifecycle {
  readonly rid: string;
  readonly state: RequestState;
  readonly phase: RequestPhase;
  /** The model that has the request while `pending`; 0 otherwise, unless it ended there. */
  readonly handedTo: ModelId;
  /** Why it ended; null before the end and after `RELEASE`. */
  readonly endReason: EndReason | null;
  /** The error of a failed request. */
  readonly failureCode: ErrorCode | null;
  /**
   * Tells the machine. False, and nothing changed, when the event is not legal in this state or the
   * lifecycle was stopped. Never throws: late and doubled events are ordinary, the caller counts them.
   */
  send(event: RequestEvent): boolean;
  /** Drops the actor wherever the request stands, such as when the process ends. Idempotent. */
  stop(): void;
}

class ActorBackedLifecycle implements RequestLifecycle {
  state: RequestState;
  private context: RequestContext;
  /** Null from the end of the request on: whoever keeps this handle keeps no actor with it. */
  private actor: Actor<typeof requestMachine> | null;

  constructor(rid: string) {
    this.actor = createActor(requestMachine, { input: { rid } });
    this.actor.start();
    const snapshot = this.actor.getSnapshot();
    this.context = snapshot.context;
    this.state = statePath(snapshot.value) as RequestState;
  }

  get rid(): string {
    return this.context.rid;
  }

  get phase(): RequestPhase {
    return this.state.slice(0, this.state.indexOf('.')) as RequestPhase;
  }

  get handedTo(): ModelId {
    return this.context.handedTo;
  }

  get endReason(): EndReason | null {
    return this.context.endReason;
  }

  get failureCode(): ErrorCode | null {
    return this.context.failureCode;
  }

  send(event: RequestEvent): boolean {
    if (this.actor === null) return false;
    this.actor.send(event);
    const snapshot = this.actor.getSnapshot();
    const state = statePath(snapshot.value) as RequestState;
    // Every legal event changes the state (machines/request.ts has no self-transition; a test keeps it so).
    if (state === this.state) return false;
    this.state = state;
    this.context = snapshot.context;
    if (this.phase === 'finished') this.stop();
    return true;
  }

  stop(): void {
    this.actor?.stop();
    this.actor = null;
  }
}

/** A new request at this subserver, in `running.queued`: admitted at its home, or arrived at a guest. */
export function createRequestLifecycle(rid: string): RequestLifecycle {
  return new ActorBackedLifecycle(rid);
}
