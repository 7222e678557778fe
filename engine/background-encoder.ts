import { Worker } from 'node:worker_threads';
import { TokenrailError } from '../core/errors.ts';
import type { EncodeOptions, Tokenizer } from './tokenizer.ts';

/** What the worker is asked, and what it answers. */
export interface EncodeJob {
  id: number;
  text: string;
  options: EncodeOptions;
}
export type EncodeAnswer = { id: number; ids: Int32Array } | { id: number; error: string };

export interface BackgroundEncoderOptions {
  /**
   * UTF-16 units above which a text goes to the worker; default 8192. The slowest texts found take 4 µs per unit, so
   * what stays on the caller's thread blocks it for less than about 30 ms, and usually for 8 ms.
   */
  inlineUnits?: number;
  /** Texts that may wait for the worker; default 256. Beyond that, encoding is refused. */
  maxWaiting?: number;
}

interface Waiting {
  resolve: (ids: number[]) => void;
  reject: (error: TokenrailError) => void;
}

/**
 * Encodes texts without ever blocking the caller's thread for long: short ones at once, long ones in a worker with a
 * tokenizer of its own, which starts with the first long text.
 */
export class BackgroundEncoder {
  readonly #tokenizer: Tokenizer;
  readonly #dir: string;
  readonly #inlineUnits: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #isClosed = false;

  /** @param dir the checkpoint directory that `tokenizer` was loaded from */
  constructor(tokenizer: Tokenizer, dir: string, options: BackgroundEncoderOptions = {}) {
    this.#tokenizer = tokenizer;
    this.#dir = dir;
    this.#inlineUnits = options.inlineUnits ?? 8_192;
    this.#maxWaiting = options.maxWaiting ?? 256;
  }

  /**
   * The ids of a text: `tokenizer.encode`.
   * @throws TokenrailError `overloaded` where too many texts wait, `internal` where the worker fails, `illegal_state` after `close`
   */
  async encode(text: string, options: EncodeOptions = {}): Promise<number[]> {
    if (this.#isClosed) throw new TokenrailError('illegal_state', 'the encoder is closed');
    if (text.length <= this.#inlineUnits) return this.#tokenizer.encode(text, options);
    if (this.#waiting.size >= this.#maxWaiting)
      throw new TokenrailError('overloaded', 'too many long prompts at once');
    this.#worker ??= this.#start();
    const id = (this.#lastId += 1);
    const job: EncodeJob = { id, text, options };
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage(job);
      worker.ref();
    });
  }

  /** Ends the worker; texts that wait for it are refused. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#refuseAll(new TokenrailError('shutting_down', 'the server shuts down'));
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(workerFile(), { workerData: { dir: this.#dir } });
    worker.unref(); // a worker that has nothing to do must not keep the process alive
    worker.on('message', (answer: EncodeAnswer) => this.#onAnswer(answer, worker));
    worker.on('error', (cause) => this.#onGone(worker, cause));
    worker.on('exit', (code) => this.#onGone(worker, new Error(`exit code ${code}`)));
    return worker;
  }

  #onAnswer(answer: EncodeAnswer, worker: Worker): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) worker.unref();
    if ('error' in answer)
      waiting?.reject(new TokenrailError('internal', `tokenizing failed: ${answer.error}`));
    else waiting?.resolve(Array.from(answer.ids));
  }

  /** The next long text starts another worker. */
  #onGone(worker: Worker, cause: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#refuseAll(
      new TokenrailError('internal', `the tokenizer thread ended: ${cause.message}`, { cause }),
    );
  }

  #refuseAll(error: TokenrailError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** From the sources a bootstrap that loads tsx; from the build the compiled file itself. */
function workerFile(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? './encode-worker-bootstrap.mjs' : './encode-worker.js', import.meta.url);
}
