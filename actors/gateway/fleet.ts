import type { Clock } from '../../core/clock.ts';
import type { Deployment, ModelEntry } from '../../core/deployment.ts';
import type { Heartbeat } from '../../transport/messages.ts';

/** A replica as its last heartbeat showed it. */
export interface ReplicaView {
  model: ModelEntry;
  heartbeat: Heartbeat;
  ageMs: number;
  /** Why it does not count as able to serve; undefined = it does. */
  fault: string | undefined;
}

export interface FleetOptions {
  deployment: Deployment;
  configHash: string;
  heartbeatStaleMs: number;
  stepHungMs: number;
}

/** Replicas remembered at most; a deployment has a handful. */
const MAX_REPLICAS = 1_024;
/** A silent replica is forgotten after this many times `heartbeatStaleMs`; until then it is shown as stale. */
const FORGET_FACTOR = 15;

/** Everything this gateway knows about the replicas of the deployment, from their heartbeats. */
export class Fleet {
  private readonly options: FleetOptions;
  private readonly clock: Clock;
  private readonly seen = new Map<string, { heartbeat: Heartbeat; atMs: number }>();

  constructor(options: FleetOptions, clock: Clock) {
    this.options = options;
    this.clock = clock;
  }

  /** Takes a heartbeat; false if it was refused (unknown model, or too many replicas). */
  observe(heartbeat: Heartbeat): boolean {
    if (!this.options.deployment.models.some((model) => model.id === heartbeat.model)) return false;
    const key = `${heartbeat.model}/${heartbeat.replica}`;
    if (heartbeat.state === 'stopped') {
      this.seen.delete(key);
      return true;
    }
    if (!this.seen.has(key) && this.seen.size >= MAX_REPLICAS) {
      // Room for who speaks now: the silent ones are only shown.
      this.forgetSilent(this.options.heartbeatStaleMs);
      if (this.seen.size >= MAX_REPLICAS) return false;
    }
    this.seen.set(key, { heartbeat, atMs: this.clock.nowMs() });
    return true;
  }

  /** The name of a model of the deployment; its number where there is none. */
  modelName(id: number): string {
    return this.options.deployment.models.find((model) => model.id === id)?.name ?? String(id);
  }

  /** All known replicas, in the order of the models. */
  replicas(): ReplicaView[] {
    this.forgetSilent();
    const views: ReplicaView[] = [];
    for (const model of this.options.deployment.models) {
      for (const { heartbeat, atMs } of this.seen.values()) {
        if (heartbeat.model !== model.id) continue;
        const ageMs = this.clock.nowMs() - atMs;
        views.push({ model, heartbeat, ageMs, fault: this.faultOf(heartbeat, ageMs) });
      }
    }
    return views;
  }

  /**
   * The smallest context length among the replicas heard of lately: every model must hold the whole sequence.
   * Replicas that failed, or that run another configuration on the same bus, have no say.
   */
  maxModelLenTokens(): number | undefined {
    let smallest: number | undefined;
    for (const { heartbeat, atMs } of this.seen.values()) {
      const isFresh = this.clock.nowMs() - atMs <= this.options.heartbeatStaleMs;
      const isOurs = heartbeat.configHash === this.options.configHash && heartbeat.state !== 'failed';
      if (!isFresh || !isOurs || heartbeat.maxModelLenTokens <= 0) continue;
      smallest = Math.min(smallest ?? heartbeat.maxModelLenTokens, heartbeat.maxModelLenTokens);
    }
    return smallest;
  }

  private faultOf(heartbeat: Heartbeat, ageMs: number): string | undefined {
    if (ageMs > this.options.heartbeatStaleMs) return `no heartbeat for ${Math.round(ageMs)} ms`;
    if (heartbeat.configHash !== this.options.configHash) return 'runs another configuration';
    if (heartbeat.state !== 'serving') return `state ${heartbeat.state}`;
    // The age grows on this side too while the heartbeat itself gets older.
    const stepAgeMs = heartbeat.stepAgeMs === 0 ? 0 : heartbeat.stepAgeMs + ageMs;
    if (stepAgeMs >= this.options.stepHungMs) return `step in flight for ${Math.round(stepAgeMs)} ms`;
    return undefined;
  }

  private forgetSilent(limitMs = this.options.heartbeatStaleMs * FORGET_FACTOR): void {
    for (const [key, { atMs }] of this.seen) {
      if (this.clock.nowMs() - atMs > limitMs) this.seen.delete(key);
    }
  }
}
