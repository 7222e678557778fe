import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { copyOf } from './helpers/checkpoints.ts';
import { rowOf } from './helpers/core.ts';
import { codeOf, engineOf, rejection, stepOf } from './helpers/engine.ts';
import { REPOSITORY } from './helpers/golden.ts';

describe('ending', () => {
  it('waits for the step in flight, is idempotent and refuses more steps', async () => {
    const engine = engineOf(copyOf('llama'));
    await engine.start();
    const step = stepOf(engine, [rowOf(1, 0, [1, 2, 3])]);
    const closing = engine.close();
    expect(codeOf(() => engine.step({ rows: [rowOf(2, 0, [1])], needs: {} }, () => {}))).toBe(
      'illegal_state',
    );
    await Promise.all([closing, engine.close()]);
    expect((await step).ok).toBe(true);
    expect((await rejection(engine.start())).code).toBe('illegal_state');
  });

  it('works before, during and after a failed start', async () => {
    await engineOf(copyOf('llama')).close();
    const early = engineOf(copyOf('llama'));
    const started = early.start();
    await early.close();
    expect((await started).kind).toBe('onnx');
    const failing = engineOf('nowhere');
    await rejection(failing.start());
    await failing.close();
  });

  it('four at a time, three times over, leaves a process that exits by itself with 0', async () => {
    const script = `${REPOSITORY}/test/unit/engine-onnx/helpers/start-stop.ts`;
    const child = spawn(process.execPath, ['--import', 'tsx', script, copyOf('llama'), '3'], {
      cwd: REPOSITORY,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    const code = await new Promise((resolve) =>
      child.on('close', (exitCode, signal) => resolve(exitCode ?? signal)),
    );
    expect({ code, output: Buffer.concat(output).toString() }).toEqual({ code: 0, output: '12 steps\n' });
  }, 120_000);
});
