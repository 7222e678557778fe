import { Counter, Histogram, Registry } from 'prom-client';
import type { ErrorCode } from '../../../core/errors.ts';
import type { Usage } from '../usage.ts';
import * as buckets from './buckets.ts';
import type { BusTraffic } from './bus-traffic.ts';

/** How a request ended, in vLLM's words. */
export type FinishedReason = 'stop' | 'length' | 'abort';

/**
 * What this gateway itself counts and measures. Names, labels and units are vLLM's with our prefix;
 * docs/metrics.md lists them. Intervals come from one monotonic clock in one process.
 */
export class GatewayMetrics implements BusTraffic {
  readonly registry = new Registry();
  private readonly served: string;
  private readonly home: string;

  /**
   * @param served canonical served name, the `model_name` of what concerns whole requests
   * @param home name of the home model, which reads the prompts
   */
  constructor(served: string, home: string) {
    this.served = served;
    this.home = home;
  }

  private readonly promptTokens = this.counter('prompt_tokens_total', 'Prompt tokens of finished requests.', [
    'model_name',
  ]);
  private readonly generationTokens = this.counter(
    'generation_tokens_total',
    'Tokens of answers, by the model that wrote them.',
    ['model_name'],
  );
  private readonly success = this.counter('request_success_total', 'Requests that ended without an error.', [
    'model_name',
    'finished_reason',
  ]);
  private readonly failure = this.counter('request_failure_total', 'Requests that ended with an error.', [
    'model_name',
    'code',
  ]);
  private readonly handoffs = this.counter('handoffs_total', 'Handoffs between models.', [
    'model_name',
    'router',
  ]);
  private readonly busMessages = this.counter('bus_messages_total', 'Messages on the bus at this gateway.', [
    'direction',
    'kind',
  ]);
  private readonly busDropped = this.counter(
    'bus_messages_dropped_total',
    'Messages received and not used.',
    ['reason'],
  );
  private readonly firstToken = this.histogram(
    'time_to_first_token_seconds',
    'From the arrival of a request to its first token.',
    buckets.TIME_TO_FIRST_TOKEN_SECONDS,
  );
  private readonly interToken = this.histogram(
    'inter_token_latency_seconds',
    'Time between tokens; a message with n tokens counts n times its nth part.',
    buckets.INTER_TOKEN_SECONDS,
  );
  private readonly e2e = this.histogram(
    'e2e_request_latency_seconds',
    'From the arrival of a request to its end.',
    buckets.REQUEST_SECONDS,
  );
  private readonly requestPrompt = this.histogram(
    'request_prompt_tokens',
    'Prompt tokens per request.',
    buckets.TOKENS,
  );
  private readonly requestGeneration = this.histogram(
    'request_generation_tokens',
    'Generated tokens per request.',
    buckets.TOKENS,
  );

  message(direction: 'in' | 'out', kind: string): void {
    this.busMessages.inc({ direction, kind });
  }

  dropped(reason: string, count: number): void {
    this.busDropped.inc({ reason }, count);
  }

  observeFirstToken(seconds: number): void {
    this.firstToken.observe({ model_name: this.served }, seconds);
  }

  observeTokens(count: number, gapSeconds: number): void {
    for (let i = 0; i < count; i += 1)
      this.interToken.observe({ model_name: this.served }, gapSeconds / count);
  }

  finished(reason: FinishedReason, usage: Usage, router: string, seconds: number): void {
    this.success.inc({ model_name: this.served, finished_reason: reason });
    this.e2e.observe({ model_name: this.served }, seconds);
    this.requestPrompt.observe({ model_name: this.served }, usage.promptTokens);
    this.requestGeneration.observe({ model_name: this.served }, usage.completionTokens);
    this.consumed(usage, router);
  }

  failed(code: ErrorCode, usage: Usage | undefined, router: string): void {
    this.failure.inc({ model_name: this.served, code });
    if (usage !== undefined) this.consumed(usage, router);
  }

  private consumed(usage: Usage, router: string): void {
    if (usage.completionTokens > 0) this.promptTokens.inc({ model_name: this.home }, usage.promptTokens);
    for (const [model, tokens] of Object.entries(usage.tokensByModel)) {
      if (tokens > 0) this.generationTokens.inc({ model_name: model }, tokens);
    }
    if (usage.handoffs > 0) this.handoffs.inc({ model_name: this.served, router }, usage.handoffs);
  }

  private counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name: `tokenrail_${name}`, help, labelNames, registers: [this.registry] });
  }

  private histogram(name: string, help: string, bounds: number[]): Histogram {
    return new Histogram({
      name: `tokenrail_${name}`,
      help,
      labelNames: ['model_name'],
      buckets: bounds,
      registers: [this.registry],
    });
  }
}
