import type { Command } from 'commander';
import { SystemClock } from '../../../core/system-clock.ts';
import { createLogger } from '../../log.ts';
import { startGatewayRole } from '../../roles/gateway.ts';
import { configOf } from '../config-options.ts';
import { requireNatsUrl, runRole } from '../run-role.ts';

/** `tokenrail gateway`: runs until a signal ends it. */
export async function gateway(command: Command): Promise<void> {
  const resolved = configOf(command);
  const natsUrl = requireNatsUrl(resolved);
  const logger = createLogger(resolved.config, { name: 'gateway' });
  const context = {
    resolved,
    natsUrl,
    natsToken: resolved.config.natsToken,
    clock: new SystemClock(),
    logger,
  };
  const starting = startGatewayRole(context);
  starting.then(
    ({ info }) => process.stdout.write(`gateway listens at ${info.url}\n`),
    () => {},
  );
  await runRole(starting, resolved, logger);
}
