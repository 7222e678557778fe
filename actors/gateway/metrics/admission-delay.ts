import { Gauge, type MetricObjectWithValues, type MetricType, type MetricValueWithName } from 'prom-client';
import type { Fleet, ReplicaView } from '../fleet.ts';

const NAME = 'tokenrail_admission_delay_seconds';
/** The enum exists in the library's types only. */
const HISTOGRAM = 'histogram' as unknown as MetricType;
const BUCKET = /^wait_le_us_([1-9][0-9]{0,8})$/;
/** Buckets of one replica at most: they come off the wire. */
const MAX_BUCKETS = 32;

/**
 * The time of rows from ready to the start of their step: a histogram that the replicas count and heartbeats bring. The
 * library's own histograms can only observe, so this one writes its series itself.
 */
export class AdmissionDelay extends Gauge<'model_name' | 'replica'> {
  private readonly fleet: Fleet;

  constructor(fleet: Fleet) {
    super({
      name: NAME,
      help: 'From a row ready to run until its step starts.',
      labelNames: ['model_name', 'replica'],
      registers: [],
    });
    this.fleet = fleet;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<'model_name' | 'replica'>>> {
    const frame = await super.get();
    return { ...frame, type: HISTOGRAM, values: this.fleet.replicas().flatMap(seriesOf) };
  }
}

function seriesOf({ model, heartbeat }: ReplicaView): MetricValueWithName<'model_name' | 'replica'>[] {
  const { counters, replica } = heartbeat;
  const labels = { model_name: model.name, replica };
  const buckets = Object.entries(counters).flatMap(([name, value]) => {
    const bound = BUCKET.exec(name)?.[1];
    return bound === undefined || !(value >= 0) ? [] : [{ boundUs: Number(bound), value }];
  });
  buckets.sort((a, b) => a.boundUs - b.boundUs);
  buckets.length = Math.min(buckets.length, MAX_BUCKETS);
  if (buckets.length === 0) return [];
  const series = (suffix: string, value: number, le?: string | number): (typeof values)[number] => ({
    metricName: `${NAME}_${suffix}`,
    labels: (le === undefined ? labels : { ...labels, le }) as typeof labels,
    value,
  });
  const values: MetricValueWithName<'model_name' | 'replica'>[] = [];
  let sum = 0;
  for (const { boundUs, value } of buckets) values.push(series('bucket', (sum += value), boundUs / 1e6));
  const count = Math.max(sum, counters['step_rows'] ?? 0);
  values.push(series('bucket', count, '+Inf'));
  values.push(series('sum', (counters['wait_us'] ?? 0) / 1e6), series('count', count));
  return values;
}
