import type { Decision, QueueView, StartPolicy } from '../../scheduling/index.ts';

/** A policy that can be replaced while it serves: one running system measures many thresholds in turns. */
export class SwitchPolicy implements StartPolicy {
  current: StartPolicy;

  constructor(initial: StartPolicy) {
    this.current = initial;
  }

  get name(): string {
    return this.current.name;
  }

  decide(view: QueueView): Decision {
    return this.current.decide(view);
  }
}
