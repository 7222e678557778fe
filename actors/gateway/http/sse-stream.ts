import type { FastifyReply } from 'fastify';
import type { Clock, Timer } from '../../../core/clock.ts';
import type { TokenrailError } from '../../../core/errors.ts';
import { errorBody } from '../openai/error-body.ts';
import type { StreamSink } from '../openai/streamed-answer.ts';
import { sendError } from './send-error.ts';

export interface SseOptions {
  clock: Clock;
  /** Silence after which a comment is sent. */
  keepAliveMs: number;
  /** Unsent bytes above which the reader counts as gone. */
  maxBufferBytes: number;
  retryAfterSeconds: number;
  /** The reader takes its bytes too slowly. */
  onTooSlow: () => void;
}

/**
 * Server-sent events as OpenAI's clients read them: one `data:` line per object, `data: [DONE]` at the end,
 * comments in between while nothing else is to be said. The status line is held back until the request was
 * taken or the first comment is due, so that a refusal keeps its HTTP status.
 */
export class SseStream implements StreamSink {
  private readonly reply: FastifyReply;
  private readonly options: SseOptions;
  private opened = false;
  private ended = false;
  private lastWriteMs: number;
  private timer: Timer | undefined;

  constructor(reply: FastifyReply, options: SseOptions) {
    this.reply = reply;
    this.options = options;
    this.lastWriteMs = options.clock.nowMs();
    this.timer = options.clock.setTimer(options.keepAliveMs, () => this.keepAlive());
    reply.raw.once('close', () => this.stop());
    // A socket that breaks in the middle of a write is reported by 'close'; without a listener it would throw.
    reply.raw.on('error', () => this.stop());
  }

  open(): void {
    if (this.opened || this.ended) return;
    this.opened = true;
    this.reply.hijack();
    this.reply.raw.writeHead(200, {
      ...(this.reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      // Proxies of the nginx family would otherwise collect the stream.
      'x-accel-buffering': 'no',
    });
    this.reply.raw.flushHeaders();
  }

  chunk(object: object): void {
    this.write(`data: ${JSON.stringify(object)}\n\n`);
  }

  fail(error: TokenrailError): void {
    if (this.opened) {
      this.chunk(errorBody(error));
      return this.end();
    }
    if (this.ended) return;
    this.stop();
    sendError(this.reply, error, this.options.retryAfterSeconds);
  }

  end(): void {
    if (this.ended) return;
    this.write('data: [DONE]\n\n');
    this.stop();
    if (!this.reply.raw.destroyed) this.reply.raw.end();
  }

  private write(text: string): void {
    const { raw } = this.reply;
    if (this.ended || raw.destroyed) return;
    this.open();
    this.lastWriteMs = this.options.clock.nowMs();
    raw.write(text);
    if (raw.writableLength > this.options.maxBufferBytes) this.cutOff();
  }

  /** The reader will not take the end of the stream either: nothing is gained by keeping its bytes. */
  private cutOff(): void {
    this.stop();
    this.reply.raw.destroy();
    this.options.onTooSlow();
  }

  private keepAlive(): void {
    if (this.ended) return;
    const { clock, keepAliveMs } = this.options;
    let leftMs = this.lastWriteMs + keepAliveMs - clock.nowMs();
    if (leftMs <= 0) {
      this.write(': keep-alive\n\n');
      leftMs = keepAliveMs;
    }
    this.timer = clock.setTimer(leftMs, () => this.keepAlive());
  }

  private stop(): void {
    this.ended = true;
    this.timer?.cancel();
    this.timer = undefined;
  }
}
