import type { Delta } from '../generation-events.ts';
import type { Usage } from '../usage.ts';
import {
  tokenFields,
  usageObject,
  usagePlaceholder,
  type AnswerFormat,
  type AnswerHead,
  type CollectedAnswer,
} from './answer-format.ts';

/** Objects of /v1/completions. */
export class CompletionFormat implements AnswerFormat {
  private readonly head: AnswerHead;
  private promptIdsSent = false;

  constructor(head: AnswerHead) {
    this.head = head;
  }

  opening(): undefined {
    return undefined;
  }

  delta(delta: Delta): object {
    return this.chunk({
      text: delta.text,
      logprobs: null,
      finish_reason: null,
      ...tokenFields(this.head, delta),
    });
  }

  closing(finishReason: 'stop' | 'length', stopString: string | undefined): object {
    return this.chunk({
      text: '',
      logprobs: null,
      finish_reason: finishReason,
      stop_reason: stopString ?? null,
    });
  }

  usage(usage: Usage): object {
    return { ...this.common(), choices: [], usage: usageObject(usage) };
  }

  whole(answer: CollectedAnswer): object {
    const choice = {
      index: 0,
      text: answer.text,
      logprobs: null,
      finish_reason: answer.finishReason,
      stop_reason: answer.stopString ?? null,
      ...this.promptIdsOnce(),
      ...tokenFields(this.head, answer.delta),
    };
    return { ...this.common(), choices: [choice], usage: usageObject(answer.usage) };
  }

  /** On the first choice only: a prompt may be long. */
  private promptIdsOnce(): object {
    if (!this.head.returnTokenIds || this.promptIdsSent) return {};
    this.promptIdsSent = true;
    return { prompt_token_ids: this.head.promptIds };
  }

  private chunk(choice: object): object {
    const choices = [{ index: 0, ...choice, ...this.promptIdsOnce() }];
    return { ...this.common(), choices, ...usagePlaceholder(this.head) };
  }

  private common(): object {
    const { id, created, model } = this.head;
    return { id, object: 'text_completion', created, model };
  }
}
