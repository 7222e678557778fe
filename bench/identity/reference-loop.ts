import type { RouterEntry } from '../../core/deployment.ts';
import type { ModelId, SamplingParams } from '../../core/request.ts';
import type { SampledRow } from '../../engine/engine.ts';
import { loadRouterFactory } from '../../routers/registry.ts';
import type { AlgoFields, RouteRow } from '../../routers/router.ts';
import { choiceDistance } from './choice-distance.ts';
import { ReferenceSide } from './reference-side.ts';
import { routeDistance } from './route-distance.ts';

export interface ReferenceAnswer {
  ids: number[];
  models: ModelId[];
  /**
   * Per token: how far the nearest decision behind it was from falling the other way. Greedy: difference of the
   * two largest logits; sampled: distance of the draw from the edges of its token's interval; composed: of the
   * composition; always the distance of the routing as well.
   */
  distances: number[];
}

export interface ReferenceOptions {
  /** Names and checkpoint directories, the home first. */
  models: readonly { name: string; dir: string }[];
  router: Pick<RouterEntry, 'use' | 'options'>;
  /** Largest feed of one step, as in the deployment. */
  maxNumBatchedTokens: number;
}

/** Where the loop stands with one request. */
interface Progress {
  tokens: number[];
  answer: ReferenceAnswer;
  at: ModelId;
  /** Tokens written since the request came to this model. */
  numSinceArrival: number;
  algo: AlgoFields | undefined;
  /** Of the decisions since the last token. */
  distance: number;
}

/**
 * The plain loop: one request at a time, one model at a time, no batches, no queues, no messages; the same
 * engine with the same feed lengths as the running system. What the system answers is compared with this.
 */
export class ReferenceLoop {
  private readonly sides: readonly ReferenceSide[];
  private nextSeq = 1;

  private constructor(sides: readonly ReferenceSide[]) {
    this.sides = sides;
  }

  static async start({ models, router, maxNumBatchedTokens }: ReferenceOptions): Promise<ReferenceLoop> {
    const factory = await loadRouterFactory(router.use, process.cwd());
    const entries = models.map(({ name }, index) => ({ id: index + 1, name }));
    const sides = models.map(({ dir }, index) => {
      const made = factory({ self: index + 1, home: 1, models: entries, options: router.options });
      return ReferenceSide.start(dir, index + 1, made, maxNumBatchedTokens);
    });
    return new ReferenceLoop(await Promise.all(sides));
  }

  async answer(
    prompt: readonly number[],
    sampling: SamplingParams,
    limits: { maxTokens: number; stopIds: readonly number[] },
  ): Promise<ReferenceAnswer> {
    const seq = this.nextSeq++;
    const view = { rid: 'reference', tokens: prompt, promptLen: prompt.length, peerLocs: new Map() };
    const progress: Progress = {
      tokens: [...prompt],
      answer: { ids: [], models: [], distances: [] },
      at: this.side(1).router.first?.(view, sampling) || 1,
      numSinceArrival: 0,
      algo: undefined,
      distance: Infinity,
    };
    const { ids } = progress.answer;
    while (ids.length < limits.maxTokens && !limits.stopIds.includes(ids.at(-1) ?? -1)) {
      const result = await this.side(progress.at).next(seq, progress.tokens, sampling);
      this.settle(progress, rowOf(progress, result, prompt.length, sampling), result);
    }
    for (const side of this.sides) side.forget(seq);
    return progress.answer;
  }

  async close(): Promise<void> {
    for (const side of this.sides) await side.close();
  }

  /** Routes and commits one row, in the order of docs/architecture.md. */
  private settle(progress: Progress, row: RouteRow, result: SampledRow): void {
    const { answer, tokens, at, numSinceArrival } = progress;
    const { router } = this.side(at);
    const destination = router.route([row])[0] ?? 0;
    const leaves = destination !== 0 && destination !== at;
    const distance = routeDistance(router, row);
    const isDiscarding = router.onHandoff === 'discard' && (at === 1 || numSinceArrival > 0);
    // Discarding routers decide about this token, keeping ones about the writer of the next.
    if (isDiscarding) progress.distance = Math.min(progress.distance, distance);
    if (!(leaves && isDiscarding)) {
      const token = router.choose?.(row) ?? row.sampled;
      answer.ids.push(token);
      answer.models.push(at);
      const key = { model: at, position: tokens.length, sampling: row.sampling };
      answer.distances.push(Math.min(progress.distance, choiceDistance(router, row, result, key)));
      tokens.push(token);
      progress.numSinceArrival += 1;
      progress.distance = isDiscarding ? Infinity : distance;
    }
    if (!leaves) return;
    const view = {
      rid: 'reference',
      tokens,
      promptLen: tokens.length - answer.ids.length,
      peerLocs: new Map(),
    };
    Object.assign(progress, {
      algo: router.send?.(view, destination, row).algo,
      at: destination,
      numSinceArrival: 0,
    });
  }

  private side(model: ModelId): ReferenceSide {
    const side = this.sides[model - 1];
    if (side === undefined) throw new Error(`no model ${model}`);
    return side;
  }
}

function rowOf(
  { tokens, answer, numSinceArrival, algo }: Progress,
  result: SampledRow,
  promptLen: number,
  sampling: SamplingParams,
): RouteRow {
  return {
    ...result,
    rid: 'reference',
    position: promptLen + answer.ids.length,
    numGenerated: answer.ids.length,
    sampling,
    tokens,
    numSinceArrival,
    ...(algo === undefined ? {} : { algo }),
  };
}
