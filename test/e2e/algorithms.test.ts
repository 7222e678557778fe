import { afterAll, beforeAll, expect, it } from 'vitest';
import { ALGORITHMS, AlgorithmIdentity } from '../../bench/identity/algorithms.ts';
import { loadProblems } from '../../bench/lib/problems.ts';

/** A part of `npm run bench:identity -- --all-algorithms`. Random networks route at random, but the same everywhere. */
const problems = loadProblems('test', 8);
let identity: AlgorithmIdentity;

beforeAll(async () => {
  identity = await AlgorithmIdentity.start({ heads: 'random', maxTokens: 48 });
});
afterAll(() => identity.stop());

it.each(ALGORITHMS)(
  '%s: the running system writes what the plain loop writes, 8 problems at once',
  async (algorithm) => {
    const { failures, tokens, guestTokens } = await identity.compare(algorithm, problems, problems.length);
    expect(failures).toEqual([]);
    expect(tokens).toBeGreaterThan(problems.length * 30);
    expect(guestTokens).toBeGreaterThan(problems.length / 2);
    expect(guestTokens).toBeLessThan(tokens - problems.length);
  },
);
