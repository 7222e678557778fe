import { describe, expect, it } from 'vitest';
import { AutoPolicy, createPolicy } from '../../scheduling/index.ts';
import { InlineSolver, makePlan } from '../../scheduling/planner/index.ts';
import { Simulation } from '../../simulation/index.ts';

const NUM_ALIVE = 8;
const LIMIT_MS = 240_000;

describe('a system that is not what the model takes it for', () => {
  it(
    'ends at what is best in truth, though nobody predicts it, and stays there whatever plans come',
    async () => {
      const auto = new AutoPolicy({ maxWaitMs: 250 });
      const followed: string[] = [];
      const simulation = new Simulation({
        models: [
          { stepTime: { baseMs: 6 }, policy: () => auto },
          { stepTime: { baseMs: 10 }, policy: () => createPolicy({ kind: 'auto' }) },
        ],
        matrices: { routing: [[0.8, 0.2], [1, 0]], commits: [[1, 0], [1, 1]] }, // prettier-ignore
        overlapFactor: 0.4,
        concurrency: NUM_ALIVE,
        totalTokens: 28_000,
        // Contention that the planner never hears of: it predicts policies that let both models run at once.
        solver: (clock) =>
          new InlineSolver(clock, (problem) =>
            makePlan({ ...problem, system: { ...problem.system, overlapFactor: 1 } }),
          ),
        onProgress: () => {
          followed.push(auto.stateAt(simulation.system.clock.nowMs(), NUM_ALIVE).step?.name ?? 'none');
        },
      });
      await simulation.run();
      // The chain says 722 tokens/s for it, 465 for look-ahead, 372 for eager; some 30 windows find it; then the rest is looked at.
      const late = followed.slice(-4000);
      const turns = late.filter((name) => name === 'take-turns(4,1)');
      expect(turns.length).toBeGreaterThan(0.8 * late.length);
    },
    LIMIT_MS,
  );
});
