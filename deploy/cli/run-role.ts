import { TokenrailError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { deferred } from '../launch/deferred.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import type { RunningRole } from '../roles/role.ts';
import { endOnSignals } from './signals.ts';

/** The broker of a process that stands alone. @throws TokenrailError `config_invalid` if none is given */
export function requireNatsUrl({ config }: ResolvedConfig): string {
  if (config.nats !== undefined) return config.nats;
  throw new TokenrailError(
    'config_invalid',
    '--nats: a process that joins a deployment needs the URL of the broker it shares with the others',
    {
      param: 'nats',
    },
  );
}

/** Runs a role until a signal ends it. */
export async function runRole(
  starting: Promise<RunningRole<unknown>>,
  resolved: ResolvedConfig,
  logger: Logger,
): Promise<void> {
  const over = deferred<void>();
  const end = async (how: (role: RunningRole<unknown>) => Promise<void>): Promise<void> => {
    await how(await starting);
    over.resolve();
  };
  const target = {
    drain: (timeoutMs: number) => end((role) => role.drain(timeoutMs)),
    stop: () => end((role) => role.stop()),
  };
  const timeoutMs = resolved.config.shutdownTimeout * 1000;
  const unlisten = endOnSignals(target, timeoutMs, (signal, isSecond) =>
    logger.info({ signal }, isSecond ? 'stopping at once' : 'draining'),
  );
  try {
    await starting;
    await over.promise;
  } finally {
    unlisten();
  }
}
