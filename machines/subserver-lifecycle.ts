import { createActor, type Actor } from 'xstate';
import { subserverMachine, type SubserverEvent } from './subserver.ts';
import { statePath } from './state-path.ts';

/** Every state of a subserver; the words are those of its heartbeat. */
export type SubserverPhase = 'starting' | 'serving' | 'draining' | 'stopped' | 'failed';

export interface SubserverLifecycle {
  readonly state: SubserverPhase;
  /** False, and nothing changed, when the event is not legal in this state. Never throws. */
  send(event: SubserverEvent): boolean;
  /** Drops the actor. Idempotent; the state stays readable. */
  stop(): void;
}

class ActorBackedLifecycle implements SubserverLifecycle {
  state: SubserverPhase;
  private actor: Actor<typeof subserverMachine> | null;

  constructor() {
    this.actor = createActor(subserverMachine);
    this.actor.start();
    this.state = statePath(this.actor.getSnapshot().value) as SubserverPhase;
  }

  send(event: SubserverEvent): boolean {
    if (this.actor === null) return false;
    this.actor.send(event);
    const snapshot = this.actor.getSnapshot();
    const state = statePath(snapshot.value) as SubserverPhase;
    if (state === this.state) return false;
    this.state = state;
    if (snapshot.status === 'done') this.stop();
    return true;
  }

  stop(): void {
    this.actor?.stop();
    this.actor = null;
  }
}

/** A subserver that has just been made: in `starting`. */
export function createSubserverLifecycle(): SubserverLifecycle {
  return new ActorBackedLifecycle();
}
