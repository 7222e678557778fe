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

/** Objects of /v1/chat/completions. */
export class ChatFormat implements AnswerFormat {
  private readonly head: AnswerHead;

  constructor(head: AnswerHead) {
    this.head = head;
  }

  opening(): object {
    const promptIds = this.promptIds();
    return {
      ...this.chunk({ delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }),
      ...promptIds,
    };
  }

  delta(delta: Delta): object {
    const fields = tokenFields(this.head, delta);
    return this.chunk({ delta: { content: delta.text }, logprobs: null, finish_reason: null, ...fields });
  }

  closing(finishReason: 'stop' | 'length', stopString: string | undefined): object {
    return this.chunk({
      delta: {},
      logprobs: null,
      finish_reason: finishReason,
      stop_reason: stopString ?? null,
    });
  }

  usage(usage: Usage): object {
    return { ...this.common('chat.completion.chunk'), choices: [], usage: usageObject(usage) };
  }

  whole(answer: CollectedAnswer): object {
    const choice = {
      index: 0,
      message: { role: 'assistant', content: answer.text, refusal: null },
      logprobs: null,
      finish_reason: answer.finishReason,
      stop_reason: answer.stopString ?? null,
      ...tokenFields(this.head, answer.delta),
    };
    return {
      ...this.common('chat.completion'),
      choices: [choice],
      usage: usageObject(answer.usage),
      ...this.promptIds(),
    };
  }

  private promptIds(): object {
    return this.head.returnTokenIds ? { prompt_token_ids: this.head.promptIds } : {};
  }

  private chunk(choice: object): object {
    const choices = [{ index: 0, ...choice }];
    return { ...this.common('chat.completion.chunk'), choices, ...usagePlaceholder(this.head) };
  }

  private common(object: string): object {
    const { id, created, model } = this.head;
    return { id, object, created, model };
  }
}
