import { uniform } from '../../core/random.ts';
import type { ClassifierNet, Linear, MlpNet } from './head-files.ts';

/** Networks with random weights, the same for a seed. */
export class RandomHeads {
  private readonly seed: number;
  private position = 0;

  constructor(seed: number) {
    this.seed = seed;
  }

  vector(size: number, scale = 1, offset = 0): number[] {
    return Array.from({ length: size }, () => offset + scale * (2 * this.draw() - 1));
  }

  linear(outputs: number, inputs: number): Linear {
    const scale = Math.sqrt(3 / inputs);
    return {
      w: Array.from({ length: outputs }, () => this.vector(inputs, scale)),
      b: this.vector(outputs, 0.1),
    };
  }

  /** @param dims widths of the blocks; the last block keeps its width, as published */
  classifier(hiddenSize: number, topK: number, dims: readonly number[]): ClassifierNet {
    const [first = 1] = dims;
    const last = dims.at(-1) ?? 1;
    const blocks = dims.map((width, i) => {
      const next = dims[i + 1] ?? width;
      return {
        norm: this.norm(width),
        up: this.linear(4 * width, width),
        down: this.linear(next, 4 * width),
        skip: next === width ? null : this.linear(next, width),
      };
    });
    return {
      logitsProjection: this.linear(hiddenSize, topK),
      combinedProjection: this.linear(first, 3 * hiddenSize),
      inputProjection: this.linear(first, first),
      blocks,
      outNorm: this.norm(last),
      out: this.linear(1, last),
    };
  }

  mlp(hiddenSize: number): MlpNet {
    return {
      fc1: this.linear(2 * hiddenSize, hiddenSize),
      bn: {
        ...this.norm(2 * hiddenSize),
        mean: this.vector(2 * hiddenSize, 0.5),
        var: this.vector(2 * hiddenSize, 0.5, 1),
      },
      fc2: this.linear(hiddenSize, 2 * hiddenSize),
      head: this.linear(1, hiddenSize),
    };
  }

  private norm(width: number): { g: number[]; b: number[] } {
    return { g: this.vector(width, 0.3, 1), b: this.vector(width, 0.2) };
  }

  private draw(): number {
    this.position += 1;
    return uniform({ seed: this.seed, position: this.position, model: 0, purpose: 'simulation' });
  }
}
