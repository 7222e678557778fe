import type { Clock } from '../../core/clock.ts';
import { TokenrailError } from '../../core/errors.ts';
import { BackgroundEncoder } from '../../engine/background-encoder.ts';
import { loadChatTemplate, type ChatTemplate } from '../../engine/chat-template.ts';
import { withoutMarks } from '../../engine/special-text.ts';
import { loadTokenizer, type Tokenizer } from '../../engine/tokenizer.ts';
import type { ChatPrompt, GenerationRequest, IdsPrompt, Prompt } from './generation-request.ts';
import { AnswerText } from './text/answer-text.ts';

/** Reads prompts into token ids, and makes the readers of the answers: where text and ids meet. */
export class PromptReader {
  private readonly tokenizer: Tokenizer;
  private readonly template: ChatTemplate | undefined;
  private readonly encoder: BackgroundEncoder;
  private readonly clock: Clock;

  /** Use {@link loadPromptReader}. */
  constructor(
    tokenizer: Tokenizer,
    template: ChatTemplate | undefined,
    encoder: BackgroundEncoder,
    clock: Clock,
  ) {
    this.tokenizer = tokenizer;
    this.template = template;
    this.encoder = encoder;
    this.clock = clock;
  }

  /**
   * The ids of a prompt, at least one.
   * @param contextTokens what certainly does not fit is refused before it costs anything
   * @throws TokenrailError `invalid_request`, `context_length_exceeded`
   */
  async read(prompt: Prompt, contextTokens: number): Promise<readonly number[]> {
    const param = prompt.kind === 'messages' ? 'messages' : 'prompt';
    const ids =
      prompt.kind === 'ids' ? this.checkIds(prompt) : await this.encode(prompt, contextTokens, param);
    if (ids.length === 0) throw new TokenrailError('invalid_request', 'The prompt is empty.', { param });
    return ids;
  }

  /** The text side of one answer. */
  answerText(request: GenerationRequest): AnswerText {
    return new AnswerText(this.tokenizer, {
      stop: request.stop,
      includeStopText: request.includeStopText,
      skipSpecialTokens: request.skipSpecialTokens,
      startsText: request.prompt.kind === 'messages' && !request.prompt.continueFinalMessage,
    });
  }

  close(): Promise<void> {
    return this.encoder.close();
  }

  private async encode(
    prompt: Exclude<Prompt, IdsPrompt>,
    contextTokens: number,
    param: string,
  ): Promise<readonly number[]> {
    const text = prompt.kind === 'text' ? prompt.text : this.render(prompt);
    // A control token written in a completion's prompt is one; in a chat only the template's own are left.
    const options = { parseSpecial: true, addSpecialTokens: prompt.kind === 'text' };
    // The marks of disarmed control tokens become no tokens.
    const numBytes = Buffer.byteLength(withoutMarks(text), 'utf8');
    if (this.tokenizer.promptCannotFit(numBytes, contextTokens)) {
      const message = `This model's maximum context length is ${contextTokens} tokens, which a text of ${numBytes} bytes exceeds. Please reduce the length of the ${param}.`;
      throw new TokenrailError('context_length_exceeded', message, { param });
    }
    return this.encoder.encode(text, options);
  }

  private render(prompt: ChatPrompt): string {
    if (this.template === undefined) {
      const message = 'The model has no chat template; use /v1/completions.';
      throw new TokenrailError('invalid_request', message, { param: 'messages' });
    }
    return this.template.render(
      prompt.messages.map((message) => ({ ...message })),
      {
        disarm: (text) => this.tokenizer.disarm(text),
        epochMs: this.clock.epochMs(),
        addGenerationPrompt: prompt.addGenerationPrompt,
        continueFinalMessage: prompt.continueFinalMessage,
        variables: prompt.templateKwargs,
      },
    );
  }

  private checkIds({ ids }: IdsPrompt): readonly number[] {
    const bad = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= this.tokenizer.size);
    if (bad === undefined) return ids;
    const message = `Token id ${bad} is out of the vocabulary (0 to ${this.tokenizer.size - 1}).`;
    throw new TokenrailError('invalid_request', message, { param: 'prompt' });
  }
}

/**
 * Loads tokenizer and chat template of a checkpoint.
 * @throws TokenrailError `checkpoint_invalid` naming the file
 */
export function loadPromptReader(dir: string, clock: Clock): PromptReader {
  const tokenizer = loadTokenizer(dir);
  const encoder = new BackgroundEncoder(tokenizer, dir);
  return new PromptReader(tokenizer, loadChatTemplate(dir), encoder, clock);
}
