import type { Clock } from '../../../core/clock.ts';
import type { TokenrailError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import type { Delta, GenerationEnd, GenerationListener } from '../generation-events.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';

/** Times and counts one request on its way through, without standing in it. */
export class RequestTrace {
  readonly arrivedAtMs: number;
  /** Id of the router, once known. */
  router = '';
  private readonly rid: string;
  private readonly clock: Clock;
  private readonly metrics: GatewayMetrics;
  private readonly logger: Logger;
  private lastTokenAtMs: number | undefined;

  constructor(rid: string, clock: Clock, metrics: GatewayMetrics, logger: Logger) {
    this.rid = rid;
    this.clock = clock;
    this.metrics = metrics;
    this.logger = logger;
    this.arrivedAtMs = clock.nowMs();
  }

  /** `listener` with the measurements beside it. `onEnded` is called after the end, whatever the listener does. */
  follow(listener: GenerationListener, onEnded: () => void): GenerationListener {
    return {
      onAdmitted: () => listener.onAdmitted(),
      onDelta: (delta) => {
        this.observe(delta);
        listener.onDelta(delta);
      },
      onEnd: (end) => {
        try {
          this.end(end);
          listener.onEnd(end);
        } catch (thrown) {
          this.logger.warn({ rid: this.rid, err: thrown }, 'the end of an answer could not be delivered');
        } finally {
          onEnded();
        }
      },
    };
  }

  refused(error: TokenrailError): void {
    this.metrics.failed(error.code, undefined, this.router);
    this.log(error);
  }

  private observe(delta: Delta): void {
    if (delta.ids.length === 0) return;
    const nowMs = this.clock.nowMs();
    if (this.lastTokenAtMs === undefined) this.metrics.observeFirstToken((nowMs - this.arrivedAtMs) / 1000);
    else this.metrics.observeTokens(delta.ids.length, (nowMs - this.lastTokenAtMs) / 1000);
    this.lastTokenAtMs = nowMs;
  }

  private end(end: GenerationEnd): void {
    const tookMs = this.clock.nowMs() - this.arrivedAtMs;
    if (end.kind === 'finished') {
      this.metrics.finished(end.finishReason, end.usage, this.router, tookMs / 1000);
      const { completionTokens, handoffs } = end.usage;
      this.logger.debug(
        { rid: this.rid, tookMs, completionTokens, handoffs, reason: end.finishReason },
        'request finished',
      );
    } else if (end.error.code === 'cancelled') {
      this.metrics.finished('abort', end.usage, this.router, tookMs / 1000);
      this.logger.debug({ rid: this.rid, tookMs, why: end.error.message }, 'request cancelled');
    } else {
      this.metrics.failed(end.error.code, end.usage, this.router);
      this.log(end.error);
    }
  }

  /** Clients' mistakes are theirs; what the service could not do is worth a line. */
  private log(error: TokenrailError): void {
    const fields = { rid: this.rid, code: error.code, err: error.status >= 500 ? error : undefined };
    if (error.status >= 500) this.logger.warn(fields, `request failed: ${error.message}`);
    else this.logger.debug(fields, `request refused: ${error.message}`);
  }
}
