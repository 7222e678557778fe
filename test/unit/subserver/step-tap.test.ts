import { expect, it } from 'vitest';
import { StepTap } from '../../../actors/subserver/step-tap.ts';
import { silentLogger } from '../../../core/log.ts';
import { SystemClock } from '../../../core/system-clock.ts';
import { decodeFrame } from '../../../transport/codec.ts';
import { homeRequest } from '../../helpers/live-requests.ts';
import { LocalBroker } from '../../helpers/local-bus.ts';

it('in real time, too, records leave after the next step was chosen, in one frame and in order', async () => {
  const clock = new SystemClock();
  const broker = new LocalBroker();
  const source = { model: 1, replica: 'r0', configHash: 'test', subject: 'ns.record.m1' };
  const options = { topK: 1, hidden: false, headDigests: new Map<string, string>() };
  const deps = { bus: broker.connect(), clock, logger: silentLogger, routers: new Map(), source };
  const tap = new StepTap(options, deps);
  let numSentBeforeTheLook = NaN;
  await new Promise<void>((resolve) => {
    // As a step ends: its rows are committed, and the next look at the queue is asked for last.
    clock.setTimer(0, () => {
      tap.end(homeRequest('a', 1), 'eos');
      tap.end(homeRequest('b', 2), 'length');
      clock.afterInstant(() => (numSentBeforeTheLook = broker.published.length));
      clock.setTimer(0, resolve);
    });
  });
  expect(numSentBeforeTheLook).toBe(0);
  const frames = broker.published.map(({ payload }) => decodeFrame(payload).messages);
  expect(frames).toMatchObject([
    [
      { kind: 'record-end', number: 1, reason: 'eos' },
      { kind: 'record-end', number: 2, reason: 'length' },
    ],
  ]);
});
