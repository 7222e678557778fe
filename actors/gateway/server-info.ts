import type { SchedulingReport } from '../../transport/messages.ts';
import type { Fleet, ReplicaView } from './fleet.ts';

/** The body of /server_info: how every replica of every model schedules itself, as its last heartbeat told. */
export interface ServerInfo {
  version: string;
  models: { name: string; replicas: Record<string, unknown>[] }[];
}

export function serverInfo(version: string, modelNames: readonly string[], fleet: Fleet): ServerInfo {
  const replicas = fleet.replicas();
  return {
    version,
    models: modelNames.map((name) => ({
      name,
      replicas: replicas.filter(({ model }) => model.name === name).map((one) => describe(one, fleet)),
    })),
  };
}

function describe({ heartbeat, ageMs, fault }: ReplicaView, fleet: Fleet): Record<string, unknown> {
  const { replica, state, running, waiting, pending, scheduling } = heartbeat;
  return {
    replica,
    state,
    ...(fault === undefined ? {} : { fault }),
    heartbeat_age_ms: Math.round(ageMs),
    requests: { running, waiting, pending },
    ...(scheduling === undefined ? {} : { scheduling: describeScheduling(scheduling, fleet) }),
  };
}

function describeScheduling(report: SchedulingReport, fleet: Fleet): Record<string, unknown> {
  const { estimates } = report;
  const byModel = (values: readonly number[]): Record<string, number> =>
    Object.fromEntries(values.map((value, j) => [fleet.modelName(j + 1), value]));
  return {
    policy: report.policy,
    reason: report.reason,
    requests_alive: report.alive,
    threshold_rows: report.threshold ?? null,
    predicted_tokens_per_second: report.predictedTokensPerSecond ?? null,
    measured_tokens_per_second: report.measuredTokensPerSecond ?? null,
    estimates:
      estimates === undefined
        ? null
        : {
            routing: byModel(estimates.routing),
            commits: byModel(estimates.commits),
            step_ms: Object.fromEntries(estimates.curve),
            jitter: estimates.jitter,
            overlap_factor: estimates.overlapFactor,
            rows_seen: estimates.numOutcomes,
            max_num_seqs: estimates.maxNumSeqs,
          },
  };
}
