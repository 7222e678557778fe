import { uniform } from '../../core/random.ts';
import type { RunLengths } from './run-lengths.ts';

/** At which positions of one request the home hands off: a pure function of (seed, position), kept as far as asked. */
export interface LeaveProcess {
  leavesAt(position: number): boolean;
}

/** Streams of draws beside the plain one per model. */
const RUN_STREAM = 0x30000;
const MOOD_STREAM = 0x40000;
const BURST_STREAM = 0x50000;

/**
 * A stationary renewal process over the positions 0, 1, …: the n-th run length is drawn with the key (seed, n), the
 * first one is what is left of a run, so that every position leaves with probability 1 / mean.
 */
export class RenewalProcess implements LeaveProcess {
  private readonly runs: RunLengths;
  private readonly seed: number;
  private readonly model: number;
  private readonly positions = new Set<number>();
  private numRuns = 0;
  private last = -1;

  constructor(runs: RunLengths, seed: number, modelId: number) {
    this.runs = runs;
    this.seed = seed;
    this.model = modelId + RUN_STREAM;
  }

  leavesAt(position: number): boolean {
    while (this.last < position) this.addRun();
    return this.positions.has(position);
  }

  private addRun(): void {
    const { seed, model, numRuns } = this;
    const u = uniform({ seed, position: numRuns, model, purpose: 'simulation' });
    this.last += numRuns === 0 ? this.runs.sampleLeft(u) : this.runs.sample(u);
    this.numRuns += 1;
    this.positions.add(this.last);
  }
}

/** Mean length of a burst, in positions. */
const BURST_LENGTH = 16;

/**
 * Bursts (a Markov-modulated process): in a burst a position leaves with probability min((1 + p) / 2, 4 p), between
 * bursts with p / 4. A burst lasts 16 positions on average, the calm between as long as the mean p demands.
 */
export class BurstProcess implements LeaveProcess {
  private readonly seed: number;
  private readonly modelId: number;
  private readonly inBurst: number;
  private readonly inCalm: number;
  private readonly share: number;
  private readonly leaves: boolean[] = [];
  private isBurst = false;

  /** @param leave mean probability of leaving, in (0, 1) */
  constructor(leave: number, seed: number, modelId: number) {
    this.seed = seed;
    this.modelId = modelId;
    this.inBurst = Math.min((1 + leave) / 2, 4 * leave);
    this.inCalm = leave / 4;
    this.share = (leave - this.inCalm) / (this.inBurst - this.inCalm);
  }

  leavesAt(position: number): boolean {
    while (this.leaves.length <= position) this.leaves.push(this.next(this.leaves.length));
    return this.leaves[position] ?? false;
  }

  private next(position: number): boolean {
    const mood = this.draw(position, MOOD_STREAM);
    if (position === 0) this.isBurst = mood < this.share;
    else {
      const calmLength = (BURST_LENGTH * (1 - this.share)) / this.share;
      if (mood < 1 / (this.isBurst ? BURST_LENGTH : calmLength)) this.isBurst = !this.isBurst;
    }
    return this.draw(position, BURST_STREAM) < (this.isBurst ? this.inBurst : this.inCalm);
  }

  private draw(position: number, stream: number): number {
    const { seed, modelId } = this;
    return uniform({ seed, position, model: modelId + stream, purpose: 'simulation' });
  }
}
