import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { quality } from '../../../bench/quality.ts';
import { ensureWritable } from '../../../deploy/output-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'tokenrail-output-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a file that is written at the end of a long run', () => {
  it('is tried before, and keeps what it holds', () => {
    const path = join(folder, 'page.svg');
    ensureWritable('--svg', undefined);
    ensureWritable('--svg', path);
    expect(existsSync(path)).toBe(true);
    writeFileSync(path, 'old');
    ensureWritable('--svg', path);
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  it('is refused before anything runs', async () => {
    const path = join(folder, 'absent', 'page.svg');
    const refusal = { code: 'config_invalid', param: '--svg' };
    expect(() => ensureWritable('--svg', path)).toThrow(expect.objectContaining(refusal));
    expect(() => ensureWritable('--svg', folder)).toThrow(expect.objectContaining(refusal));
    await expect(quality(['--svg', path])).rejects.toMatchObject(refusal);
  });
});
