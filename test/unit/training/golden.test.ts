import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { goldenVectors } from '../routers/golden.ts';

const repository = fileURLToPath(new URL('../../../', import.meta.url));
const vectors = 'test/fixtures/golden/routing-vectors.json';
const python = (...args: string[]) => spawnSync('python3', args, { cwd: repository, encoding: 'utf8' });
const hasPython = python('-c', 'import sys; sys.exit(sys.version_info < (3, 11))').status === 0;

/** [algorithm, kind] of every vector about training. */
const KINDS = [
  ['r2r', 'labels'],
  ['r2r', 'loss'],
  ['r2r', 'calibration'],
  ['citer', 'loss'],
  ['co-llm', 'labels'],
  ['co-llm', 'loss'],
] as const;

describe.skipIf(!hasPython)('label rules, losses and thresholds of the Python training', () => {
  it('give what the golden vectors say, with the standard library alone', () => {
    // -S leaves the installed packages out.
    const { status, stdout, stderr } = python(
      '-S',
      '-c',
      'import sys; sys.path.insert(0, "."); from training.routers.golden import main; sys.exit(main([sys.argv[1]]))',
      vectors,
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const ids = KINDS.flatMap(([algorithm, kind]) => goldenVectors(algorithm, kind)).map(({ id }) => id);
    const lines = stdout.trim().split('\n');
    expect(lines.slice(0, -1).sort()).toEqual(ids.map((id) => `ok ${id}`).sort());
    expect(lines.at(-1)).toBe(`${ids.length} vectors, 0 failed`);
  });

  it('end with 1 where nothing is replayed', () => {
    const { status, stdout } = python('-m', 'training.routers.golden', 'package.json');
    expect([status, stdout]).toEqual([1, '0 vectors, 0 failed\n']);
  });
});
