import type { Command } from 'commander';
import { SystemClock } from '../../../core/system-clock.ts';
import { createLogger } from '../../log.ts';
import { startSubserverRole } from '../../roles/subserver.ts';
import { configOf } from '../config-options.ts';
import { requireNatsUrl, runRole } from '../run-role.ts';

/** `tokenrail subserver --model NAME`: runs until a signal ends it. */
export async function subserver(command: Command): Promise<void> {
  const resolved = configOf(command);
  const natsUrl = requireNatsUrl(resolved);
  const { model, replica } = command.opts<{ model: string; replica?: string }>();
  const logger = createLogger(resolved.config, { name: model });
  const context = {
    resolved,
    natsUrl,
    natsToken: resolved.config.natsToken,
    clock: new SystemClock(),
    logger,
  };
  const starting = startSubserverRole({ ...context, modelName: model, replica });
  starting.then(
    ({ info }) => process.stdout.write(`${info.model} serves as replica ${info.replica}\n`),
    () => {},
  );
  await runRole(starting, resolved, logger);
}
