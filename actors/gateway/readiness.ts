import type { Deployment } from '../../core/deployment.ts';
import type { BusStatus } from '../../transport/bus.ts';
import type { ReplicaView } from './fleet.ts';

/** Where the gateway is in its life. */
export type GatewayPhase = 'starting' | 'serving' | 'draining' | 'closed';

/** Reasons shown per model at most: probes keep what they get. */
const MAX_REASONS = 16;

/** The body of /health/ready. */
export interface Readiness {
  status: 'ready' | 'unready';
  gateway: GatewayPhase;
  bus: BusStatus;
  models: Readonly<
    Record<string, { status: 'ready' | 'unready'; replicas: number; reasons: readonly string[] }>
  >;
}

/**
 * Ready = this gateway takes requests, the bus is connected and every model of the deployment has a replica
 * that was heard of lately, serves and does not hang in a step. Heartbeats are sent beside the work, so
 * this never queues behind it.
 */
export function readiness(
  deployment: Deployment,
  phase: GatewayPhase,
  bus: BusStatus,
  replicas: readonly ReplicaView[],
): Readiness {
  const models: Record<string, Readiness['models'][string]> = {};
  let ready = phase === 'serving' && bus === 'connected';
  for (const model of deployment.models) {
    const own = replicas.filter((replica) => replica.model.id === model.id);
    const able = own.filter((replica) => replica.fault === undefined).length;
    const reasons = own.flatMap(({ heartbeat, fault }) =>
      fault === undefined ? [] : [`replica ${heartbeat.replica}: ${fault}`],
    );
    if (own.length === 0) reasons.push('no replica was heard of');
    models[model.name] = {
      status: able > 0 ? 'ready' : 'unready',
      replicas: able,
      reasons: shortened(reasons),
    };
    ready &&= able > 0;
  }
  return { status: ready ? 'ready' : 'unready', gateway: phase, bus, models };
}

function shortened(reasons: readonly string[]): readonly string[] {
  if (reasons.length <= MAX_REASONS) return reasons;
  return [...reasons.slice(0, MAX_REASONS), `and ${reasons.length - MAX_REASONS} more`];
}
