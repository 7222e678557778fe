import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveConfig } from '../../deploy/config/deployment.ts';
import { loadConfig } from '../../deploy/config/load.ts';
import { Cli, emptyPath, endAll, root, runCli } from './support/cli.ts';

let app: string;

// The image's layout: the compiled program, and no TypeScript sources beside it.
beforeAll(() => {
  app = mkdtempSync(join(tmpdir(), 'tokenrail-app-'));
  const dist = join(app, 'dist');
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', dist], { cwd: root });
  execFileSync(process.execPath, ['deploy/copy-bootstraps.mjs', dist], { cwd: root });
  for (const name of ['node_modules', 'package.json', 'models'])
    symlinkSync(join(root, name), join(app, name));
}, 180_000);
afterAll(async () => {
  await endAll();
  rmSync(app, { recursive: true });
});

const compiled = (): { command: string[]; cwd: string } => ({
  command: [process.execPath, 'dist/deploy/cli/bin.mjs'],
  cwd: app,
});

test('the compiled program starts every kind of process and worker: it solves problems with both models', async () => {
  const demo = new Cli(['demo', '--num-problems', '2'], { ...compiled(), env: { PATH: emptyPath } });
  expect(await demo.exited).toEqual({ code: 0, signal: null });
  expect(demo.stderr).toBe('');
  expect(demo.stdout).toMatch(
    /^\d+ tokens in .* % of them by the large model, [1-9]\d* handoffs; \d of 2 right$/m,
  );
});

test('it offers what the sources offer, with the networks of its package', async () => {
  const compiledConfig = (name: string): Promise<unknown> =>
    import(join(app, 'dist', 'deploy', 'config', name));
  const { loadConfig: load } = (await compiledConfig('load.js')) as { loadConfig: typeof loadConfig };
  const { resolveConfig: resolve } = (await compiledConfig('deployment.js')) as {
    resolveConfig: typeof resolveConfig;
  };
  const [theirs, ours] = [resolve(load()), resolveConfig(loadConfig())].map(({ deployment, configHash }) => ({
    ids: deployment.routers.map(({ id }) => id),
    configHash,
  }));
  expect(theirs).toEqual(ours);
});

test('it finds the models of its package, and refuses what the sources refuse', async () => {
  const { stdout } = await runCli(['models', '--json'], compiled());
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(['small', 'large']);
  expect(await runCli(['serve', '--port', 'x'], compiled())).toMatchObject({ code: 2 });
});
