import type { TokenrailError } from '../../../core/errors.ts';
import type { Delta, GenerationEnd, GenerationListener } from '../generation-events.ts';
import type { AnswerFormat } from './answer-format.ts';

/** Where an answer in one piece goes. One of the two is called, once. */
export interface WholeSink {
  reply(object: object): void;
  fail(error: TokenrailError): void;
}

/** Collects the events of a request into one object. */
export class WholeAnswer implements GenerationListener {
  private readonly format: AnswerFormat;
  private readonly sink: WholeSink;
  private readonly deltas: Delta[] = [];

  constructor(format: AnswerFormat, sink: WholeSink) {
    this.format = format;
    this.sink = sink;
  }

  onAdmitted(): void {}

  onDelta(delta: Delta): void {
    this.deltas.push(delta);
  }

  onEnd(end: GenerationEnd): void {
    if (end.kind === 'failed') return this.sink.fail(end.error);
    const { deltas } = this;
    const text = deltas.map((delta) => delta.text).join('');
    const delta: Delta = {
      text,
      ids: deltas.flatMap(({ ids }) => ids),
      models: deltas.flatMap(({ models }) => models),
      signals: deltas.flatMap(({ signals }) => signals),
      texts: deltas.flatMap(({ texts }) => texts),
    };
    const { finishReason, stopString, usage } = end;
    this.sink.reply(this.format.whole({ text, delta, finishReason, stopString, usage }));
  }
}
