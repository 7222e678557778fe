import pino from 'pino';
import pretty from 'pino-pretty';
import type { Logger } from '../core/log.ts';
import type { Config } from './config/schema.ts';

/** What every line of a process carries. */
export type LogBindings = Readonly<Record<string, string>>;

/**
 * The process's logger. It writes to standard error, so that standard output keeps to what a command is
 * asked for. Writing is synchronous: nothing is lost when the process ends.
 */
export function createLogger(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  bindings: LogBindings = {},
): Logger {
  const options: pino.LoggerOptions = {
    level: config.logLevel,
    base: bindings,
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  if (config.logFormat === 'json') return pino(options, pino.destination({ fd: 2, sync: true }));
  const colorize = process.stderr.isTTY && process.env['NO_COLOR'] === undefined;
  return pino(
    options,
    pretty({
      destination: 2,
      sync: true,
      colorize,
      ignore: 'pid,hostname',
      singleLine: true,
      translateTime: 'SYS:HH:MM:ss.l',
    }),
  );
}
