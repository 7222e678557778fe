import type { GenerationListener } from '../actors/gateway/generation-events.ts';
import { TokenrailError } from '../core/errors.ts';
import { uniform } from '../core/random.ts';
import { SIMULATED_VOCABULARY, type SimulatedSystem } from './simulated-system.ts';

/** One request of the load, as its client sees it. */
export interface LoadRequest {
  /** Number of the request, from 0 in the order of submission. */
  index: number;
  seed: number;
  prompt: readonly number[];
  maxTokens: number;
  ids: number[];
  models: number[];
  isOver: boolean;
}

export interface LoadOptions {
  /** Requests alive at first. */
  concurrency: number;
  /** Whether a request that ends is replaced in the same instant. */
  isReplaced: boolean;
  promptTokens: number;
  /** Length of the answer of the n-th request. */
  answerTokens: (index: number) => number;
  seed: number;
  /** Told of tokens when they reach the client. */
  onTokens: (numTokens: number) => void;
  /** Told of requests that ended. */
  onEnd: (request: LoadRequest) => void;
}

/** No token anywhere for so long, in virtual milliseconds: a hang, since policies wait for much less. */
const HANG_MS = 60_000;
/** Seeds of requests: integers that a JSON number holds. */
const SEED_RANGE = 2 ** 48;

/** Clients in a closed loop: a fixed number of requests is alive, and who ends is replaced at once (or not at all). */
export class Load {
  readonly alive = new Set<LoadRequest>();
  private readonly system: SimulatedSystem;
  private readonly options: LoadOptions;
  private numSubmitted = 0;
  /** Submitted, but their promises have not settled: nothing may happen before. */
  private numStarting = 0;
  private lastTokenMs = 0;
  private failure: Error | undefined;

  constructor(system: SimulatedSystem, options: LoadOptions) {
    this.system = system;
    this.options = options;
  }

  /**
   * Runs until `isDone`, or until no request is alive.
   * @throws TokenrailError what a request failed with; `internal` where no token comes any more
   */
  async run(isDone: () => boolean): Promise<void> {
    const { clock } = this.system;
    this.lastTokenMs = clock.nowMs();
    for (let i = 0; i < this.options.concurrency; i += 1) this.submit();
    while (!isDone()) {
      // A request on its way to the bus must get there in the instant in which it was made.
      while (this.numStarting > 0) await Promise.resolve();
      if (this.failure) throw this.failure;
      if (this.alive.size === 0) return;
      if (!clock.step() || clock.nowMs() - this.lastTokenMs > HANG_MS)
        throw new TokenrailError('internal', `simulation: no token since ${this.lastTokenMs} ms, a hang`);
    }
  }

  private submit(): void {
    const { options } = this;
    const index = this.numSubmitted;
    this.numSubmitted += 1;
    const draw = (position: number, model: number): number =>
      uniform({ seed: options.seed, position, model, purpose: 'admission' });
    const prompt = Array.from({ length: options.promptTokens }, (_, i) =>
      Math.floor(draw(index, 1000 + i) * SIMULATED_VOCABULARY),
    );
    const request: LoadRequest = {
      index,
      seed: Math.floor(draw(index, 1) * SEED_RANGE),
      prompt,
      maxTokens: options.answerTokens(index),
      ids: [],
      models: [],
      isOver: false,
    };
    this.alive.add(request);
    this.numStarting += 1;
    this.system.gateway.submit(
      { prompt, max_tokens: request.maxTokens, seed: request.seed },
      {
        accept: () => {
          this.numStarting -= 1;
          return this.listener(request);
        },
        refuse: (error) => this.fail(error),
      },
    );
  }

  private listener(request: LoadRequest): GenerationListener {
    return {
      onAdmitted: () => {},
      onDelta: ({ ids, models }) => {
        request.ids.push(...ids);
        request.models.push(...models);
        this.lastTokenMs = this.system.clock.nowMs();
        this.options.onTokens(ids.length);
      },
      onEnd: (end) => {
        request.isOver = true;
        this.alive.delete(request);
        if (end.kind === 'failed') return this.fail(end.error);
        this.options.onEnd(request);
        if (this.options.isReplaced) this.submit();
      },
    };
  }

  private fail(error: Error): void {
    this.numStarting = 0;
    this.failure ??= error;
  }
}
