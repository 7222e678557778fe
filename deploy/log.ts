import pino from 'pino';
import pretty from 'pino-pretty';
import { TokenrailError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { Config } from './config/schema.ts';

/** What every line of a process carries. */
export type LogBindings = Readonly<Record<string, string>>;

/** Our own errors say what is wrong in their message; a stack helps only where nobody foresaw the error. */
function describeError(thrown: unknown): unknown {
  if (!(thrown instanceof TokenrailError) || thrown.code === 'internal')
    return pino.stdSerializers.err(thrown as Error);
  const { code, message, cause } = thrown;
  return { code, message, ...(cause instanceof Error ? { cause: cause.message } : {}) };
}

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
    serializers: { err: describeError },
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
