import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../core/log.ts';
import { resolveConfig, type ResolvedConfig } from '../../../deploy/config/deployment.ts';
import { loadConfig } from '../../../deploy/config/load.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readyBanner } from '../../../deploy/cli/banner.ts';
import { createEngine } from '../../../deploy/create-engine.ts';
import { checkpointCheck, engineCheck } from '../../../deploy/doctor/model-checks.ts';
import { loadRouters } from '../../../deploy/load-routers.ts';
import { VirtualClock } from '../../../simulation/index.ts';

function configured(small: string, rest = ''): ResolvedConfig {
  const dir = mkdtempSync(join(tmpdir(), 'tokenrail-simulated-'));
  const configPath = join(dir, 'config.yaml');
  const root = process.cwd();
  writeFileSync(
    configPath,
    `models:
  - { name: small, path: ${root}/models/small, engine: simulated${small} }
  - { name: large, path: ${root}/models/large, engine: simulated, simulated: { step-ms: 27.9 } }
routers:
  - id: simulated
    use: simulated
    options: { routing: [[0.65, 0.35], [1, 0]], commits: [[1, 0], [1, 0]] }
${rest}`,
  );
  try {
    return resolveConfig(loadConfig({ configPath }));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function engineInfo(resolved: ResolvedConfig) {
  const [model] = resolved.models;
  if (!model) throw new Error('no model');
  const routers = await loadRouters(resolved, model.id);
  const context = { clock: new VirtualClock(), logger: silentLogger, maskIdsFrom: 300 };
  return createEngine(resolved, model, routers, context).start();
}

describe('engine: simulated', () => {
  it('needs the time of a step, and refuses keys that do not belong together', () => {
    expect(() => configured('')).toThrow('step-ms');
    expect(() => configured(', simulated: { step-ms: 0 }')).toThrow('step');
    expect(() => configured(', simulated: { step-ms: 6, steps: 1 }')).toThrow('steps');
    expect(() => configured(', simulated: { step-ms: 6, rho: 0.5 }')).toThrow('rho goes with');
    expect(() => configured(', simulated: { step-ms: 6, law: bursty }')).toThrow('leave goes with');
    const ok = configured(', simulated: { step-ms: 6, law: bursty, leave: 0.35 }');
    expect(ok.models[0]?.simulated).toMatchObject({ stepMs: 6, perRowMs: 0, law: 'bursty', leave: 0.35 });
  });

  it('makes an engine that says what it is, with the vocabulary of the checkpoint', async () => {
    const info = await engineInfo(
      configured(', simulated: { step-ms: 6, per-row-ms: 0.5 }', 'max-num-seqs: 24\n'),
    );
    expect(info).toMatchObject({ kind: 'simulated', vocabSize: 300, maxNumSeqs: 24 });
    expect(info.notes.join()).toContain('step 6 ms + 0.5 ms per row');
    expect(info.eosIds.length).toBeGreaterThan(0);
  });

  it('shows in the banner and in the doctor', async () => {
    const resolved = configured(', simulated: { step-ms: 6 }');
    const engine = await engineInfo(resolved);
    const launched = {
      url: 'http://127.0.0.1:1',
      broker: { kind: 'given' as const, url: '', description: 'a broker', limits: [] },
      subservers: () => [{ model: 'small', replica: 'r', path: 'p', engine }],
    };
    expect(readyBanner(launched, resolved)).toMatch(/small: SIMULATED/);
    const [small] = resolved.models;
    if (!small) throw new Error('no model');
    expect((await checkpointCheck(small).run(resolved)).detail).toContain('SIMULATED');
    expect((await engineCheck.run(resolved)).detail).toContain('SIMULATED');
  });
});
