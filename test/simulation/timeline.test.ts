import { describe, expect, it } from 'vitest';
import { TimelineRecorder, type Timeline } from '../../deploy/simulate/timeline-recorder.ts';
import { timelineSvg } from '../../deploy/simulate/timeline-svg.ts';
import { createPolicy, type PolicySpec } from '../../scheduling/index.ts';
import { SimulatedSystem } from '../../simulation/index.ts';

const models = [{ stepTime: { baseMs: 1 } }, { stepTime: { baseMs: 4 } }];

/**
 * Two requests that the home (step 1) hands to the guest (step 4), one a millisecond after the other: in the guest's
 * time its tickets come at 0 and 1.
 */
async function run(guest: PolicySpec): Promise<{ meanWaitMs: number; timeline: Timeline }> {
  const recorder = new TimelineRecorder(models, 20);
  const system = new SimulatedSystem({
    models: models.map((model, i) => ({
      ...model,
      policy: () => createPolicy(i === 0 ? { kind: 'eager' } : guest),
    })),
    matrices: () => ({ routing: [[0, 1], [1, 0]], commits: [[1, 0], [1, 0]] }), // prettier-ignore
    maxInflight: 2,
    onStep: (record) => recorder.add(record),
  });
  await system.start();
  let numOver = 0;
  const submit = (): void => {
    system.gateway.submit(
      { prompt: [1, 2, 3], max_tokens: 1, seed: 1 },
      {
        accept: () => ({ onAdmitted: () => {}, onDelta: () => {}, onEnd: () => void (numOver += 1) }),
        refuse: (error) => {
          throw error;
        },
      },
    );
  };
  submit();
  system.clock.setTimer(0.5, submit);
  await system.clock.runUntil(() => numOver === 2, 100, 1);
  return { meanWaitMs: system.counter(2, 'wait_us') / 2000, timeline: recorder.timeline() };
}

const guestSteps = ({ steps }: Timeline): number[][] =>
  steps.filter(({ model }) => model === 2).map(({ startMs, endMs, numRows }) => [startMs, endMs, numRows]);

describe('step 4, tickets at 0 and 1', () => {
  it('eager: the first starts at once, the second waits for its end; mean wait 1.5', async () => {
    const { meanWaitMs, timeline } = await run({ kind: 'eager' });
    expect(meanWaitMs).toBe(1.5);
    expect(guestSteps(timeline)).toEqual([[1, 5, 1], [5, 9, 1]]); // prettier-ignore
  });

  it('delayed: both start together when the second comes; mean wait 0.5', async () => {
    const { meanWaitMs, timeline } = await run({ kind: 'threshold', threshold: 2 });
    expect(meanWaitMs).toBe(0.5);
    expect(guestSteps(timeline)).toEqual([[2, 6, 2]]);
  });

  it('the picture says so: bars with rows, waits, lanes, an axis, and that it is simulated', async () => {
    const { timeline } = await run({ kind: 'threshold', threshold: 2 });
    const svg = timelineSvg(timeline, { policy: 'threshold', thresholds: [1, 2], tokensPerSecond: 3 });
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    expect(svg).toContain('simulated: policy threshold 1, 2, 3.0 tokens/s');
    expect(svg).toContain('<title>2 rows, 2.000 to 6.000 ms</title>');
    expect(svg).toContain('<title>1 waiting</title>');
    for (const label of ['model 1 r0', 'model 2 r0', 'request 1', 'request 2', 'ms', 'parked at home'])
      expect(svg).toContain(`>${label}</text>`);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    const [, second] = timeline.requests;
    expect(second?.steps.map(({ model, readyMs, startMs }) => [model, readyMs, startMs])).toEqual([
      [1, undefined, 1],
      [2, 2, 2],
    ]);
  });
});
