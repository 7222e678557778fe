import { toTokenrailError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { BusHandler, BusMessage } from './bus.ts';

/** Counts of what handlers did. */
export interface HandlerCounters {
  received: number;
  handlerErrors: number;
}

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0;

/**
 * Wraps a handler so that nothing it throws reaches the client's read loop, where it would stop every
 * subscription of the connection. Errors are counted, and logged at the 1st, 2nd, 4th, 8th … of them.
 */
export function guardHandler(handler: BusHandler, counters: HandlerCounters, logger: Logger): BusHandler {
  const onError = (thrown: unknown, subject: string): void => {
    counters.handlerErrors += 1;
    if (!isPowerOfTwo(counters.handlerErrors)) return;
    const error = toTokenrailError(thrown);
    const fields = { subject, err: error.cause ?? error, handlerErrors: counters.handlerErrors };
    logger.error(fields, 'a bus handler threw');
  };
  return (message: BusMessage): void => {
    counters.received += 1;
    try {
      const result: unknown = handler(message);
      // An async function passes for a handler in the type system; its rejection would end the process.
      if (result instanceof Promise) result.catch((thrown: unknown) => onError(thrown, message.subject));
    } catch (thrown) {
      onError(thrown, message.subject);
    }
  };
}
