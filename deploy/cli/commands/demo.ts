import type { Command } from 'commander';
import { TokenrailError } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { SystemClock } from '../../../core/system-clock.ts';
import { wantsColour } from '../../client/palette.ts';
import { runDemo } from '../../demo/run-demo.ts';
import { launchProcesses } from '../../launch/processes.ts';
import { createLogger } from '../../log.ts';
import { configOf } from '../config-options.ts';
import { endOnSignals } from '../signals.ts';

function numProblems(command: Command): number {
  const text = command.opts<{ numProblems: string }>().numProblems;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 200) return value;
  throw new TokenrailError('config_invalid', `--num-problems: expected 1 to 200 (got "${text}")`);
}

/** `tokenrail demo`: starts everything on free ports, shows a handful of answers, ends everything. */
export async function demo(command: Command): Promise<void> {
  const count = numProblems(command);
  // A deployment of its own: another one on the same broker or port goes on undisturbed.
  const resolved = configOf(command, {
    port: '0',
    host: '127.0.0.1',
    'log-level': 'error',
    namespace: newId('demo', Math.random, 8),
  });
  const logger = createLogger(resolved.config, { name: 'demo' });
  const launched = await launchProcesses({ resolved, clock: new SystemClock(), logger });
  const unlisten = endOnSignals({ drain: () => launched.stop(), stop: () => launched.stop() }, 0, () => {});
  try {
    if (!(await launched.ready))
      throw (await launched.ended) ?? new TokenrailError('cancelled', 'stopped before it was ready');
    const models = resolved.deployment.models.map(({ name }) => name);
    await runDemo({
      server: { url: launched.url, apiKey: resolved.config.apiKey[0] },
      home: models[resolved.deployment.home - 1] ?? '',
      models,
      randomWeights: launched.subservers().some(({ engine }) => engine.hasRandomWeights),
      count,
      isColoured: wantsColour(process.stdout),
      write: (text) => process.stdout.write(text),
    });
  } finally {
    unlisten();
    await launched.stop();
  }
}
