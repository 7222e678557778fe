import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { packageRoot } from '../../deploy/config/package-root.ts';
import type { PolicySpec } from '../../scheduling/index.ts';
import { startSystem, type System } from '../lib/system.ts';
import { specOf, stepMsOf, type Scenario } from './scenario.ts';

export const MODEL_NAMES = ['small', 'large'] as const;

/**
 * Starts `tokenrail serve` with simulated engines over a given nats-server: gateway and two subservers, each a process
 * of its own. Everything but the models is real.
 */
export async function startSimulatedSystem(
  scenario: Scenario,
  policies: readonly PolicySpec[],
  natsUrl: string,
  namespace: string,
): Promise<System> {
  const { routing, commits } = specOf(scenario);
  const folder = mkdtempSync(join(tmpdir(), 'tokenrail-realtime-'));
  const file = join(folder, 'config.yaml');
  const stepMs = stepMsOf(scenario);
  const config = {
    namespace,
    nats: natsUrl,
    models: MODEL_NAMES.map((name, i) => ({
      name,
      path: join(packageRoot, 'models', name),
      engine: 'simulated',
      simulated: { 'step-ms': stepMs[i] },
      'max-num-seqs': 32,
      policy: kebabPolicy(policies[i] ?? { kind: 'auto' }),
    })),
    routers: [{ id: 'simulated', use: 'simulated', options: { routing, commits } }],
    router: 'simulated',
  };
  writeFileSync(file, stringify(config));
  try {
    return await startSystem(['--config', file, '--log-level', 'error']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A policy as a configuration file writes it. */
function kebabPolicy({ kind, threshold, kappa, maxWaitMs }: PolicySpec): object {
  return {
    kind,
    ...(threshold === undefined ? {} : { threshold }),
    ...(kappa === undefined ? {} : { kappa }),
    ...(maxWaitMs === undefined ? {} : { 'max-wait-ms': maxWaitMs }),
  };
}
