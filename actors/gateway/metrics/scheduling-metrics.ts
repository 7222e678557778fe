import { Gauge, type Registry } from 'prom-client';
import type { SchedulingReport } from '../../../transport/messages.ts';
import type { Fleet } from '../fleet.ts';
import { AdmissionDelay } from './admission-delay.ts';

const REPLICA_LABELS = ['model_name', 'replica'];

/** Points of a curve of step times that are shown: powers of two. */
const isShownRows = (rows: number): boolean => Number.isInteger(Math.log2(rows));

interface Sample {
  labels?: Record<string, string>;
  /** Undefined: not known, not shown. */
  value: number | undefined;
}

interface GaugeSpec {
  name: string;
  help: string;
  labels?: readonly string[];
  samples: (report: SchedulingReport, fleet: Fleet) => readonly Sample[];
}

const one = (value: number | undefined): Sample[] => [{ value }];

const GAUGES: readonly GaugeSpec[] = [
  {
    name: 'policy_info',
    help: 'The start policy that decides, and why; always 1.',
    labels: ['policy', 'reason'],
    samples: ({ policy, reason }) => [{ labels: { policy, reason }, value: 1 }],
  },
  {
    name: 'policy_threshold_rows',
    help: 'Rows that the policy waits for.',
    samples: ({ threshold }) => one(threshold),
  },
  {
    name: 'policy_requests_alive',
    help: 'Requests alive as the replica sees it.',
    samples: ({ alive }) => one(alive),
  },
  {
    name: 'predicted_tokens_per_second',
    help: 'Throughput that the plan in use predicts.',
    samples: ({ predictedTokensPerSecond }) => one(predictedTokensPerSecond),
  },
  {
    name: 'measured_tokens_per_second',
    help: 'Throughput that the planning replica has measured.',
    samples: ({ measuredTokensPerSecond }) => one(measuredTokensPerSecond),
  },
  {
    name: 'step_jitter_ratio',
    help: 'Relative standard deviation of the step times.',
    samples: ({ estimates }) => one(estimates?.jitter),
  },
  {
    name: 'overlap_factor',
    help: 'Speed while another model runs as well; 1 = no contention.',
    samples: ({ estimates }) => one(estimates?.overlapFactor),
  },
  {
    name: 'routing_share',
    help: 'Share of the rows that go to a model; to itself = they stay.',
    labels: ['to'],
    samples: ({ estimates }, fleet) =>
      (estimates?.routing ?? []).map((value, j) => ({ labels: { to: fleet.modelName(j + 1) }, value })),
  },
  {
    name: 'step_time_seconds',
    help: 'Time of a decoding step, by rows, without contention.',
    labels: ['rows'],
    samples: ({ estimates }) =>
      (estimates?.curve ?? [])
        .filter(([rows]) => isShownRows(rows))
        .map(([rows, ms]) => ({ labels: { rows: String(rows) }, value: ms / 1000 })),
  },
];

/** How each replica starts its steps and what it has measured, as its heartbeats tell. */
export function registerSchedulingMetrics(registry: Registry, fleet: Fleet): void {
  for (const spec of GAUGES) registerGauge(registry, fleet, spec);
  registry.registerMetric(new AdmissionDelay(fleet));
}

function registerGauge(registry: Registry, fleet: Fleet, { name, help, labels, samples }: GaugeSpec): void {
  new Gauge({
    name: `tokenrail_${name}`,
    help,
    labelNames: [...REPLICA_LABELS, ...(labels ?? [])],
    registers: [registry],
    collect() {
      this.reset();
      for (const { model, heartbeat } of fleet.replicas()) {
        if (!heartbeat.scheduling) continue;
        const own = { model_name: model.name, replica: heartbeat.replica };
        for (const sample of samples(heartbeat.scheduling, fleet))
          if (sample.value !== undefined) this.set({ ...own, ...sample.labels }, sample.value);
      }
    },
  });
}
