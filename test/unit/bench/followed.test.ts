import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FollowedTally } from '../../../bench/sweep/followed.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('what was followed is counted by time, only while something is measured', async () => {
  let follows = ['eager', 'eager'];
  const tally = new FollowedTally(() => follows);
  expect(tally.shares()).toEqual([]);
  const turn = async (ms: number): Promise<void> => {
    const work = tally.during(new Promise((resolve) => setTimeout(resolve, ms)));
    await vi.advanceTimersByTimeAsync(ms + 1000);
    await work;
  };
  await turn(3010);
  follows = ['look-ahead', 'threshold(1,2)'];
  await turn(1010);
  expect(tally.shares()).toEqual([
    { policies: 'eager', share: 0.75 },
    { policies: 'look-ahead; threshold(1,2)', share: 0.25 },
  ]);
});

it('a turn that fails is no longer looked at', async () => {
  let looks = 0;
  const tally = new FollowedTally(() => [`${(looks += 1)}`]);
  await expect(tally.during(Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  await vi.advanceTimersByTimeAsync(1000);
  expect(looks).toBe(0);
});
