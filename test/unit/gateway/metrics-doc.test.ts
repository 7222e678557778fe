import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AdmissionGate } from '../../../actors/gateway/admission-gate.ts';
import { Fleet } from '../../../actors/gateway/fleet.ts';
import { registerFleetMetrics } from '../../../actors/gateway/metrics/fleet-metrics.ts';
import { serverInfo } from '../../../actors/gateway/server-info.ts';
import { GatewayMetrics } from '../../../actors/gateway/metrics/gateway-metrics.ts';
import { LocalBroker } from '../../helpers/local-bus.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { deployment } from '../../helpers/gateway-deployment.ts';

function makeMetrics(): { metrics: GatewayMetrics; fleet: Fleet } {
  const metrics = new GatewayMetrics('tokenrail', 'small');
  const fleet = new Fleet(
    { deployment, configHash: 'hash', heartbeatStaleMs: 2_000, stepHungMs: 1_000 },
    new ManualClock(),
  );
  registerFleetMetrics(metrics.registry, {
    fleet,
    gate: new AdmissionGate(2, 2),
    bus: new LocalBroker().connect(),
  });
  return { metrics, fleet };
}

describe('docs/metrics.md', () => {
  it('lists exactly the metrics that exist, with their kinds', async () => {
    const text = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
    const documented = [...text.matchAll(/^\| `(tokenrail_\w+)` \| (\w+) \|/gm)].map(
      (match) => `${match[1]} ${match[2]}`,
    );
    const { metrics } = makeMetrics();
    const existing = (await metrics.registry.getMetricsAsJSON()).map(
      ({ name, type }) => `${name} ${String(type)}`,
    );
    expect(documented.sort()).toEqual(existing.sort());
  });
});

describe('metrics of the replicas', () => {
  it('show the newest heartbeat under model and replica, and refuse odd counter names', async () => {
    const { metrics, fleet } = makeMetrics();
    const common = {
      kind: 'heartbeat',
      instance: 'i',
      configHash: 'hash',
      state: 'serving',
      maxModelLenTokens: 512,
    } as const;
    const load = { running: 3, waiting: 2, pending: 1, kvUsedBlocks: 2, kvTotalBlocks: 8, stepAgeMs: 0 };
    const counters = { num_preemptions: 4, 'odd"name': 1, steps: 9 };
    fleet.observe({ ...common, ...load, model: 2, replica: 'a', counters });
    fleet.observe({ ...common, ...load, model: 2, replica: 'a', counters, running: 5 });
    const text = await metrics.registry.metrics();
    expect(text).toContain('tokenrail_num_requests_running{model_name="large",replica="a"} 5');
    expect(text).toContain('tokenrail_kv_cache_usage_perc{model_name="large",replica="a"} 0.25');
    expect(text).toContain('tokenrail_num_preemptions_total{model_name="large",replica="a"} 4');
    expect(text).toContain('event="steps"} 9');
    expect(text).not.toContain('odd');
    expect(await metrics.registry.metrics()).toContain('event="steps"} 9'); // read twice, counted once
  });

  it('tell how a replica schedules itself and how long its rows wait', async () => {
    const { metrics, fleet } = makeMetrics();
    const estimates = {
      ...{ routing: [0.6, 0.4], commits: [1, 0], jitter: 0.02, overlapFactor: 0.66, numOutcomes: 50 },
      ...{ curve: [[1, 6] as const, [2, 6.5] as const, [3, 7] as const], maxNumSeqs: 8 },
    };
    fleet.observe({
      ...{ kind: 'heartbeat', instance: 'i', configHash: 'hash', state: 'serving' },
      ...{ running: 0, waiting: 0, pending: 0, kvUsedBlocks: 0, kvTotalBlocks: 8, stepAgeMs: 0 },
      ...{ maxModelLenTokens: 512, model: 1, replica: 'r0' },
      counters: { step_rows: 10, wait_us: 50_000, wait_le_us_100: 4, wait_le_us_10000: 5, wait_le_us_9: NaN },
      scheduling: {
        ...{ policy: 'threshold(5)', reason: 'planned', alive: 8, threshold: 5 },
        ...{ predictedTokensPerSecond: 400, estimates },
      },
    });
    const text = await metrics.registry.metrics();
    const own = 'model_name="small",replica="r0"';
    for (const line of [
      `tokenrail_policy_info{${own},policy="threshold(5)",reason="planned"} 1`,
      `tokenrail_policy_threshold_rows{${own}} 5`,
      `tokenrail_predicted_tokens_per_second{${own}} 400`,
      `tokenrail_routing_share{${own},to="large"} 0.4`,
      `tokenrail_step_time_seconds{${own},rows="2"} 0.0065`,
      `tokenrail_overlap_factor{${own}} 0.66`,
      `tokenrail_admission_delay_seconds_bucket{${own},le="0.0001"} 4`,
      `tokenrail_admission_delay_seconds_bucket{${own},le="0.01"} 9`,
      `tokenrail_admission_delay_seconds_bucket{${own},le="+Inf"} 10`,
      `tokenrail_admission_delay_seconds_sum{${own}} 0.05`,
      `tokenrail_admission_delay_seconds_count{${own}} 10`,
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).not.toContain('rows="3"');
    expect(text).not.toContain('tokenrail_measured_tokens_per_second{');
    expect(text).not.toContain('event="wait_le');
    const info = serverInfo('1', ['small', 'large'], fleet);
    expect(info).toMatchObject({
      models: [
        {
          replicas: [
            {
              scheduling: {
                ...{ policy: 'threshold(5)', requests_alive: 8, measured_tokens_per_second: null },
                estimates: { routing: { small: 0.6, large: 0.4 }, step_ms: { 1: 6, 2: 6.5 } },
              },
            },
          ],
        },
        { name: 'large', replicas: [] },
      ],
    });
  });

  it('stay small whatever the replicas announce', async () => {
    const { metrics, fleet } = makeMetrics();
    const counters = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`c${i}`, i]));
    for (let i = 0; i < 20; i += 1) {
      fleet.observe({
        ...{ kind: 'heartbeat', instance: 'i', configHash: 'hash', state: 'serving' },
        ...{ running: 0, waiting: 0, pending: 0, kvUsedBlocks: 0, kvTotalBlocks: 8, stepAgeMs: 0 },
        ...{ maxModelLenTokens: 512, model: 1, replica: `r${i}`, counters },
      });
    }
    const text = await metrics.registry.metrics();
    expect(text.match(/^tokenrail_subserver_events_total\{/gm)).toHaveLength(10_000);
  });
});
