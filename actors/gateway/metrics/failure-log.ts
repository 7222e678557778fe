import type { Clock } from '../../../core/clock.ts';
import type { ErrorCode, TokenrailError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';

const WINDOW_MS = 1_000;

interface Window {
  endsAtMs: number;
  numUnwritten: number;
}

/**
 * Log lines about failed requests. An outage fails every request in the same way: one line per code and second
 * says as much as thousands, which would drown everything else; the next one tells how many were left out.
 */
export class FailureLog {
  private readonly clock: Clock;
  private readonly logger: Logger;
  /** At most one entry per code of the error table. */
  private readonly windows = new Map<ErrorCode, Window>();

  constructor(clock: Clock, logger: Logger) {
    this.clock = clock;
    this.logger = logger;
  }

  /** Clients' mistakes are theirs; what the service could not do is worth a line. */
  write(rid: string, error: TokenrailError): void {
    const { code, message } = error;
    if (error.status < 500) return this.logger.debug({ rid, code }, `request refused: ${message}`);
    const nowMs = this.clock.nowMs();
    const window = this.windows.get(code);
    if (window !== undefined && nowMs < window.endsAtMs) {
      window.numUnwritten += 1;
      return;
    }
    this.windows.set(code, { endsAtMs: nowMs + WINDOW_MS, numUnwritten: 0 });
    const others = window !== undefined && window.numUnwritten > 0 ? { others: window.numUnwritten } : {};
    // Where an error came from matters only for those that nobody expects.
    const origin = error.status === 500 ? { err: error } : {};
    this.logger.warn({ rid, code, ...others, ...origin }, `request failed: ${message}`);
  }
}
