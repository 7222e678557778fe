import { SystemClock } from '../../core/system-clock.ts';
import { resolveBroker } from '../../transport/broker.ts';
import { chat, mapConcurrently, type ChatAnswer } from '../lib/chat-client.ts';
import type { Problem } from '../lib/problems.ts';
import { startSystem } from '../lib/system.ts';
import { compareAnswers, type Comparison } from './compare.ts';
import { MAX_NUM_BATCHED_TOKENS, referenceAnswers, type Mode } from './reference-answers.ts';
import type { ReferenceAnswer } from './reference-loop.ts';

export const THRESHOLD = 0.02;
export const MAX_TOKENS = 400;

/** Greedy, and sampled with a seed of its own per problem. */
export const MODES: readonly Mode[] = [
  { name: 'greedy', temperature: 0, seed: () => 0 },
  { name: 'temperature 0.8', temperature: 0.8, seed: (index) => 1000 + index },
];

const MODEL_NAMES = ['small', 'large'];

/** The reference answers of each mode, computed once: the prompts are the same in every setting. */
export class References {
  private readonly known = new Map<Mode, ReferenceAnswer[]>();

  async compare(mode: Mode, answers: readonly ChatAnswer[]): Promise<Comparison> {
    let references = this.known.get(mode);
    if (!references) {
      references = await referenceAnswers(
        MODEL_NAMES,
        { use: 'r-stitch', options: { threshold: THRESHOLD } },
        answers.map(({ promptIds }) => promptIds),
        { mode, maxTokens: MAX_TOKENS },
      );
      this.known.set(mode, references);
    }
    return compareAnswers(answers, references, MODEL_NAMES);
  }
}

export interface Setting {
  broker: 'embedded' | 'nats-server';
  replicas: number;
  /** Start policy of both models; default eager. */
  policy?: string;
}

/** A running system over a broker of its own. */
export class RunningSetting {
  readonly url: string;
  private readonly stopAll: () => Promise<void>;

  private constructor(url: string, stopAll: () => Promise<void>) {
    this.url = url;
    this.stopAll = stopAll;
  }

  static async start({ broker: kind, replicas, policy = 'eager' }: Setting): Promise<RunningSetting> {
    const broker = await resolveBroker({ clock: new SystemClock(), preferEmbedded: kind === 'embedded' });
    if (broker.kind !== kind) {
      await broker.stop();
      throw new Error(`no ${kind} to be had, found ${broker.kind}`);
    }
    const flags = ['--nats', broker.url, '--router', 'r-stitch', '--threshold', String(THRESHOLD)];
    flags.push('--replicas', `small=${replicas},large=${replicas}`, '--log-level', 'warn');
    flags.push('--max-num-batched-tokens', String(MAX_NUM_BATCHED_TOKENS));
    flags.push('--policy', policy);
    const system = await startSystem(flags);
    return new RunningSetting(system.url, async () => {
      await system.stop();
      await broker.stop();
    });
  }

  /** All problems, `concurrency` at a time. */
  ask(problems: readonly Problem[], mode: Mode, concurrency: number): Promise<ChatAnswer[]> {
    return mapConcurrently(problems, concurrency, ({ question }, index) =>
      chat(this.url, question, {
        temperature: mode.temperature,
        seed: mode.seed(index),
        max_tokens: MAX_TOKENS,
      }),
    );
  }

  stop(): Promise<void> {
    return this.stopAll();
  }
}
