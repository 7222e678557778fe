import type { Clock } from '../../../core/clock.ts';
import type { TokenrailError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import type { Delta, GenerationEnd, GenerationListener } from '../generation-events.ts';
import type { FailureLog } from './failure-log.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';

export interface RequestTraceDeps {
  clock: Clock;
  metrics: GatewayMetrics;
  logger: Logger;
  failures: FailureLog;
}

/** Times and counts one request on its way through, without standing in it. */
export class RequestTrace {
  readonly arrivedAtMs: number;
  /** Id of the router, once known. */
  router = '';
  private readonly rid: string;
  private readonly clock: Clock;
  private readonly metrics: GatewayMetrics;
  private readonly logger: Logger;
  private readonly failures: FailureLog;
  private lastTokenAtMs: number | undefined;

  constructor(rid: string, deps: RequestTraceDeps) {
    this.rid = rid;
    this.clock = deps.clock;
    this.metrics = deps.metrics;
    this.logger = deps.logger;
    this.failures = deps.failures;
    this.arrivedAtMs = this.clock.nowMs();
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
    this.failures.write(this.rid, error);
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
      this.failures.write(this.rid, end.error);
    }
  }
}
