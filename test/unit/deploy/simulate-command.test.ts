import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createProgram } from '../../../deploy/cli/program.ts';

const dir = mkdtempSync(join(tmpdir(), 'tokenrail-simulate-'));

afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs the command in this process; what it printed. */
async function simulate(...flags: string[]): Promise<string> {
  let printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    printed += String(chunk);
    return true;
  });
  const system = ['--step-ms', '6,27.9', '--p', '0.35', '--concurrency', '4', '--tokens', '400'];
  await createProgram().parseAsync(['simulate', ...system, ...flags], { from: 'user' });
  return printed;
}

describe('tokenrail simulate', () => {
  it('prints one JSON object, the same for the same seed but for the time that it took', async () => {
    const flags = ['--policy', 'threshold', '--thresholds', '1,2', '--seed', '3', '--json'];
    const first = JSON.parse(await simulate(...flags)) as Record<string, unknown>;
    const second = JSON.parse(await simulate(...flags)) as Record<string, unknown>;
    expect(first).toMatchObject({
      simulated: true,
      policy: 'threshold',
      thresholds: [1, 2],
      mismatches: 0,
      seed: 3,
    });
    expect({ ...second, wallSeconds: 0 }).toEqual({ ...first, wallSeconds: 0 });
    expect(process.exitCode).toBeUndefined();
  });

  it('looks first whether the picture can be written', async () => {
    const file = join(dir, 'no', 'such', 'folder.svg');
    const run = simulate('--tokens', '900000000', '--timeline', file);
    await expect(run).rejects.toMatchObject({ code: 'config_invalid', param: '--timeline' });
  });

  it('plans for itself by default, says so to people, and draws', async () => {
    const file = join(dir, 'timeline.svg');
    const page = await simulate('--timeline', file);
    expect(page).toMatch(/^simulated: .* tokens\/s with policy auto/);
    expect(page).toContain('every token equals the plain sequential loop');
    expect(readFileSync(file, 'utf8')).toContain('simulated: policy auto');
    rmSync(dir, { recursive: true });
  });
});
