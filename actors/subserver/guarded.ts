import type { Logger } from '../../core/log.ts';

/**
 * Runs what a timer or the engine calls. Nobody above catches there: a throw would end the process and every
 * request in it.
 */
export function guarded(logger: Logger, what: string, run: () => void): void {
  try {
    run();
  } catch (thrown) {
    logger.error({ err: thrown }, `${what} failed`);
  }
}
