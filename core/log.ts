type LogMethod = (fields: object, message: string) => void;

/** The part of pino's interface that the actors use; `child` binds fields such as `rid` and `model`. */
export interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  child(bindings: Record<string, unknown>): Logger;
}

/** Discards everything; for tests and for callers that bring no logger. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
