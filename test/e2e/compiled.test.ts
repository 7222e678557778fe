import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('it finds the models of its package, and refuses what the sources refuse', async () => {
  const { stdout } = await runCli(['models', '--json'], compiled());
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(['small', 'large']);
  expect(await runCli(['serve', '--port', 'x'], compiled())).toMatchObject({ code: 2 });
});
