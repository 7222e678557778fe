import { Int64Scratch } from '../runtime/int64-scratch.ts';
import type { Feeds, Session } from '../runtime/ort-session.ts';
import type { HeadMatrices } from '../runtime/step-outputs.ts';
import { HEAD_IO } from './head-graph.ts';
import type { HeadShape } from './head-layout.ts';

/** A loaded head. Shares the engine's thread with the model: it runs after the model, on what the run left. */
export class Head {
  /** The name it was asked for by. */
  readonly file: string;
  readonly shape: HeadShape;
  private readonly session: Session;
  private readonly ids = new Int64Scratch();

  constructor(file: string, shape: HeadShape, session: Session) {
    this.file = file;
    this.shape = shape;
    this.session = session;
  }

  /**
   * One score per row.
   * @param sampled the token that was sampled of each row, in order
   */
  score({ hidden, topValues }: HeadMatrices, sampled: readonly number[]): Float32Array {
    const feeds: Feeds = { [HEAD_IO.hidden]: hidden };
    if (this.shape.topK > 0) feeds[HEAD_IO.topValues] = topValues;
    if (this.shape.usesEmbedding) feeds[HEAD_IO.sampled] = this.idsOf(sampled);
    const scores = this.session.run(feeds, { [HEAD_IO.score]: null })[HEAD_IO.score]?.data;
    if (scores instanceof Float32Array) return scores;
    throw new Error('the runtime returned no scores');
  }

  close(): void {
    this.session.dispose();
  }

  private idsOf(sampled: readonly number[]): ReturnType<Int64Scratch['tensor']> {
    const tensor = this.ids.tensor(sampled.length);
    for (const [index, id] of sampled.entries()) this.ids.set(index, id);
    return tensor;
  }
}
