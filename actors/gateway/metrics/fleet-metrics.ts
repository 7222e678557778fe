import { Counter, Gauge, type Registry } from 'prom-client';
import type { Bus } from '../../../transport/bus.ts';
import type { AdmissionGate } from '../admission-gate.ts';
import type { Fleet, ReplicaView } from '../fleet.ts';
import { registerSchedulingMetrics } from './scheduling-metrics.ts';

export interface FleetMetricsSources {
  fleet: Fleet;
  gate: AdmissionGate;
  bus: Bus;
}

const REPLICA_LABELS = ['model_name', 'replica'];
/** A counter's name comes from the wire; anything else would not be a label worth keeping. */
const COUNTER_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
/** Series made of the replicas' counters at most: a scrape must stay small whatever is announced. */
const MAX_EVENT_SERIES = 10_000;

/** Gauges and counters that are read when somebody scrapes: the heartbeats' numbers, the gate and the bus client. */
export function registerFleetMetrics(registry: Registry, { fleet, gate, bus }: FleetMetricsSources): void {
  const registers = [registry];
  const perReplica = (name: string, help: string, value: (replica: ReplicaView) => number): void => {
    new Gauge({
      name: `tokenrail_${name}`,
      help,
      labelNames: REPLICA_LABELS,
      registers,
      collect() {
        this.reset();
        for (const replica of fleet.replicas()) this.set(labelsOf(replica), value(replica));
      },
    });
  };
  perReplica('num_requests_running', 'Requests in the current or next step.', (r) => r.heartbeat.running);
  perReplica('num_requests_waiting', 'Requests waiting for a step.', (r) => r.heartbeat.waiting);
  perReplica(
    'num_requests_pending',
    'Requests whose next token another model writes.',
    (r) => r.heartbeat.pending,
  );
  perReplica('kv_cache_usage_perc', 'KV blocks in use; 1 = all.', (r) =>
    r.heartbeat.kvTotalBlocks > 0 ? r.heartbeat.kvUsedBlocks / r.heartbeat.kvTotalBlocks : 0,
  );
  perReplica('replica_ready', '1 = the replica counts as able to serve.', (r) =>
    r.fault === undefined ? 1 : 0,
  );
  perReplica(
    'step_age_seconds',
    'Time since the step in flight began; 0 = idle.',
    (r) => r.heartbeat.stepAgeMs / 1000,
  );
  registerReplicaCounters(registry, fleet);
  registerSchedulingMetrics(registry, fleet);
  registerGateway(registry, gate, bus);
}

function labelsOf(replica: ReplicaView): Record<string, string> {
  return { model_name: replica.model.name, replica: replica.heartbeat.replica };
}

function registerReplicaCounters(registry: Registry, fleet: Fleet): void {
  new Counter({
    name: 'tokenrail_num_preemptions_total',
    help: 'Requests whose KV was given up for others.',
    labelNames: REPLICA_LABELS,
    registers: [registry],
    collect() {
      this.reset();
      for (const replica of fleet.replicas())
        this.inc(labelsOf(replica), replica.heartbeat.counters['num_preemptions'] ?? 0);
    },
  });
  new Counter({
    name: 'tokenrail_subserver_events_total',
    help: 'Counters of the subservers, as their heartbeats announce them.',
    labelNames: [...REPLICA_LABELS, 'event'],
    registers: [registry],
    collect() {
      this.reset();
      let seriesLeft = MAX_EVENT_SERIES;
      for (const replica of fleet.replicas()) {
        for (const [event, value] of Object.entries(replica.heartbeat.counters)) {
          const isCount =
            COUNTER_NAME.test(event) &&
            !event.startsWith('wait_le_us_') &&
            Number.isFinite(value) &&
            value >= 0;
          if (!isCount || seriesLeft === 0) continue;
          seriesLeft -= 1;
          this.inc({ ...labelsOf(replica), event }, value);
        }
      }
    },
  });
}

function registerGateway(registry: Registry, gate: AdmissionGate, bus: Bus): void {
  const registers = [registry];
  new Gauge({
    name: 'tokenrail_gateway_requests_running',
    help: 'Requests in work at this gateway.',
    registers,
    collect() {
      this.set(gate.numInside);
    },
  });
  new Gauge({
    name: 'tokenrail_gateway_requests_queued',
    help: 'Requests that wait for a place at this gateway.',
    registers,
    collect() {
      this.set(gate.numQueued);
    },
  });
  new Gauge({
    name: 'tokenrail_bus_connected',
    help: '1 = the bus is connected.',
    registers,
    collect() {
      this.set(bus.status === 'connected' ? 1 : 0);
    },
  });
  new Counter({
    name: 'tokenrail_bus_client_events_total',
    help: 'Counters of the bus client, such as reconnects and messages lost while disconnected.',
    labelNames: ['event'],
    registers,
    collect() {
      this.reset();
      for (const [event, value] of Object.entries(bus.counters())) this.inc({ event }, value);
    },
  });
}
