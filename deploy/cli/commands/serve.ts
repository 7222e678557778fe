import type { Command } from 'commander';
import { SystemClock } from '../../../core/system-clock.ts';
import type { Launched } from '../../launch/launched.ts';
import { launchProcesses } from '../../launch/processes.ts';
import type { LaunchDeps } from '../../launch/fleet-parts.ts';
import { createLogger } from '../../log.ts';
import { readyBanner } from '../banner.ts';
import { configOf } from '../config-options.ts';
import { endOnSignals } from '../signals.ts';

/** Everything in this process; its code, engine and all, is loaded only then. */
const launchInline = async (deps: LaunchDeps): Promise<Launched> =>
  (await import('../../launch/inline.ts')).launchInline(deps);

/** `tokenrail serve`: runs until a signal ends it. */
export async function serve(command: Command): Promise<void> {
  const resolved = configOf(command);
  const isInline = command.opts<{ inline?: boolean }>().inline === true;
  const root = createLogger(resolved.config);
  const logger = root.child({ name: 'serve' });
  // In one process every role names its own lines; a second name would stand beside the first.
  const deps = { resolved, clock: new SystemClock(), logger: isInline ? root : logger };
  const timeoutMs = resolved.config.shutdownTimeout * 1000;
  const starting = isInline ? launchInline(deps) : launchProcesses(deps);
  // A signal during the start ends what has started by then.
  const target = {
    drain: async (limitMs: number) => (await starting).drain(limitMs),
    stop: async () => (await starting).stop(),
  };
  const unlisten = endOnSignals(target, timeoutMs, (signal, isSecond) =>
    logger.info(
      { signal },
      isSecond
        ? 'stopping at once'
        : `finishing what runs, at most ${resolved.config.shutdownTimeout} s; again to stop at once`,
    ),
  );
  try {
    const launched = await starting;
    if (await launched.ready) process.stdout.write(readyBanner(launched, resolved));
    const failure = await launched.ended;
    if (failure !== undefined) {
      await launched.stop();
      throw failure;
    }
  } finally {
    unlisten();
  }
}
