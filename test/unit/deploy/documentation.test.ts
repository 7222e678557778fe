import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveConfig } from '../../../deploy/config/deployment.ts';
import { configurationTables, modelKeys } from '../../../deploy/config/documentation.ts';
import { loadConfig } from '../../../deploy/config/load.ts';
import { engineShape } from '../../../deploy/config/schema/engine.ts';
import { kebab } from '../../../deploy/config/names.ts';
import { createProgram } from '../../../deploy/cli/program.ts';

const page = readFileSync('docs/configuration.md', 'utf8');

test('the tables of docs/configuration.md are those of the schema', () => {
  const [, generated] = /<!-- generated: begin -->\n(.*)<!-- generated: end -->/s.exec(page) ?? [];
  expect(generated).toBe(configurationTables());
});

test("the page lists the keys of a model's entry", () => {
  expect(modelKeys().sort()).toEqual(Object.keys(engineShape).map(kebab).sort());
  for (const key of modelKeys()) expect(page).toContain(`\`${key}\``);
});

test('the example file of the page is a valid configuration', () => {
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  const dir = mkdtempSync(join(tmpdir(), 'tokenrail-docs-'));
  const configPath = join(dir, 'example.yaml');
  writeFileSync(configPath, example);
  const { models, deployment } = resolveConfig(loadConfig({ configPath }));
  rmSync(dir, { recursive: true });
  expect(models).toMatchObject([
    { name: 'small', path: join(dir, 'models', 'small'), maxNumSeqs: 32, numReplicas: 2 },
    { name: 'large', numThreads: 4, policy: { kind: 'threshold', threshold: 4, maxWaitMs: 20 } },
  ]);
  expect(deployment.routers.map(({ id }) => id)).toEqual(['r-stitch', 'mine']);
});

test('help of a server command names every flag, and a default where there is one', () => {
  const serve = createProgram().commands.find((command) => command.name() === 'serve');
  const help = serve?.helpInformation() ?? '';
  expect(help).toMatch(/--max-num-seqs <N>[^-]*16/);
  expect(help).toContain('--shutdown-timeout <SECONDS>');
  expect(help).not.toContain('--advanced-');
  expect(serve?.options.some(({ long }) => long === '--advanced-heartbeat-ms')).toBe(true);
});
