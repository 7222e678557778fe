import { describe, expect, it } from 'vitest';
import { builtInRouters } from '../../../routers/registry.ts';
import { destinationOf, simulatedRouter } from '../../../routers/simulated.ts';
import { contextOf, rowsWithEntropy } from './rows.ts';

const two = { routing: [[0.65, 0.35], [1, 0]], commits: [[1, 0], [1, 0]] }; // prettier-ignore
const three = {
  routing: [[0.7, 0.2, 0.1], [0.9, 0, 0.1], [1, 0, 0]], // prettier-ignore
  commits: [[1, 0, 0], [1, 0, 0], [1, 0, 0]], // prettier-ignore
};
const names = ['small', 'medium', 'large'];

describe('the router simulated', () => {
  it('is built in', () => {
    expect(builtInRouters.get('simulated')).toBe(simulatedRouter);
  });

  it('reads the signal as a draw: leaving first, in the order of the ids, then staying', () => {
    const row = [0.7, 0.2, 0.1];
    expect([0, 0.199, 0.2, 0.299, 0.301, 0.999].map((u) => destinationOf(u, row, 1))).toEqual([
      2, 2, 3, 3, 0, 0,
    ]);
    expect(destinationOf(0.999, [1, 0], 2)).toBe(1);
  });

  it('routes a whole step', () => {
    const router = simulatedRouter(contextOf(1, two));
    expect(Array.from(router.route(rowsWithEntropy(0.1, 0.34, 0.36, 0.9)))).toEqual([2, 2, 0, 0]);
  });

  it('discards where a move commits nothing, keeps where it commits one, passes on in a cascade', () => {
    expect(simulatedRouter(contextOf(1, two)).onHandoff).toBe('discard');
    expect(simulatedRouter(contextOf(2, two))).toMatchObject({ onHandoff: 'keep' });
    const keeping = { ...two, commits: [[1, 1], [1, 1]] }; // prettier-ignore
    expect(simulatedRouter(contextOf(1, keeping)).onHandoff).toBe('keep');
    expect(simulatedRouter(contextOf(2, three, names))).toMatchObject({
      onHandoff: 'discard',
      passesOn: true,
    });
    expect(simulatedRouter(contextOf(3, three, names)).onHandoff).toBe('keep');
  });

  it('names what is wrong', () => {
    const make =
      (options: Record<string, unknown>, self = 1) =>
      () =>
        simulatedRouter(contextOf(self, options));
    expect(make({ ...two, p: 1 })).toThrow('"p" is unknown');
    expect(make({ routing: two.routing })).toThrow('"commits"');
    expect(make({ ...two, routing: [[1, 0]] })).toThrow('2 × 2');
    expect(make({ ...two, routing: [[0.5, 0.4], [1, 0]] })).toThrow('row 1 sums to 0.9'); // prettier-ignore
    expect(make({ ...two, commits: [[0, 0], [1, 0]] })).toThrow('stays commits 1'); // prettier-ignore
    expect(make({ ...two, commits: [[1, 2], [1, 0]] })).toThrow('0 or 1'); // prettier-ignore
    expect(make({ ...two, commits: [[1, 0], [0, 0]] }, 2)).toThrow('returns commits 1'); // prettier-ignore
  });
});
