import { describe, expect, it } from 'vitest';
import { Recorder, type RecordMessage } from '../../../actors/recorder/index.ts';
import { TokenrailError } from '../../../core/errors.ts';
import { encodeFrame } from '../../../transport/codec.ts';
import type { Message, RecordEnd, StepRecord } from '../../../transport/messages.ts';
import { LocalBroker } from '../../helpers/local-bus.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const source = { model: 1, replica: 'r0', configHash: 'test' };

const step = (rid: string, number: number, change: Partial<StepRecord> = {}): StepRecord => ({
  kind: 'step-record',
  ...source,
  rid,
  number,
  router: 'r-stitch',
  position: 3,
  numGenerated: 0,
  numSinceArrival: 0,
  sampling: { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 1 },
  suffix: [5, 6, 7],
  sampled: 9,
  logprob: -1,
  entropyNats: 1,
  normalizedEntropy: 0.5,
  destination: 0,
  token: 9,
  isKept: true,
  ...change,
});

const end = (rid: string, number: number): RecordEnd => ({
  kind: 'record-end',
  ...source,
  rid,
  number,
  reason: 'eos',
  completionTokens: 1,
});

async function started(
  limits: { maxRequests?: number; maxOpenRequests?: number; silentMs?: number } = {},
  write?: () => void,
) {
  const clock = new ManualClock();
  const broker = new LocalBroker();
  const kept: RecordMessage[] = [];
  const recorder = new Recorder(
    { subject: 'ns.record.*', configHash: 'test', ...limits },
    { bus: broker.connect(), clock, write: write ?? ((messages) => kept.push(...messages)) },
  );
  await recorder.start();
  const sender = broker.connect();
  const say = async (...messages: Message[]): Promise<void> => {
    sender.publish('ns.record.m1', encodeFrame(messages));
    await sender.flush();
  };
  return { clock, recorder, kept, say, sender };
}

describe('the recorder', () => {
  it('keeps whole requests: what had begun before is left out', async () => {
    const { recorder, kept, say } = await started();
    await say(step('old', 7, { numGenerated: 4, position: 9 }), step('a', 8), end('old', 9), end('a', 10));
    expect(kept.map(({ rid, kind }) => [rid, kind])).toEqual([
      ['a', 'step-record'],
      ['a', 'record-end'],
    ]);
    expect(recorder.counts).toMatchObject({ requests: 1, ended: 1, steps: 1, late: 1, missed: 0 });
  });

  it('counts what was lost, per replica, and takes a replica that starts anew for what it is', async () => {
    const { recorder, say } = await started();
    await say(step('a', 4), step('a', 5), step('a', 9));
    await say(step('a', 100, { replica: 'r1' }), step('a', 102, { replica: 'r1' }));
    expect(recorder.counts.missed).toBe(4);
    await say(step('a', 1), step('a', 2));
    expect(recorder.counts.missed).toBe(4);
  });

  it('leaves out other deployments, other messages and what it cannot read', async () => {
    const { recorder, kept, say, sender } = await started();
    await say(step('a', 1, { configHash: 'other' }), { kind: 'probe' });
    sender.publish('ns.record.m1', Uint8Array.of(1, 2, 3));
    await sender.flush();
    expect(kept).toEqual([]);
    expect(recorder.counts).toMatchObject({ foreign: 1, dropped: 2, steps: 0 });
  });

  it('ends a little after as many requests as wanted have ended, and takes no others', async () => {
    const { clock, recorder, kept, say } = await started({ maxRequests: 2 });
    await say(step('a', 1), step('b', 2), step('c', 3), end('a', 4), end('b', 5));
    // The guest's record comes after the home's end.
    await say(step('b', 1, { model: 2, replica: 'g0', numGenerated: 1, position: 4 }));
    expect(recorder.counts).toMatchObject({ requests: 2, ended: 2, steps: 3, late: 1 });
    clock.advance(10_000);
    expect(await recorder.done).toBeUndefined();
    await say(step('d', 6));
    expect(kept.map(({ rid }) => rid)).toEqual(['a', 'b', 'a', 'b', 'b']);
  });

  it('ends although the end of a request is lost, however much others say meanwhile', async () => {
    const { clock, recorder, say } = await started({ maxRequests: 2, silentMs: 5_000 });
    let isDone = false;
    void recorder.done.then(() => (isDone = true));
    const wait = async (ms: number): Promise<boolean> => {
      clock.advance(ms);
      await say(step('other', 1, { replica: 'r9' }));
      return isDone;
    };
    await say(step('a', 1), step('b', 2), end('b', 4)); // the third record was the end of a
    expect(await wait(4_000)).toBe(false);
    await say(step('a', 5, { numGenerated: 1, position: 4 })); // it was another record: a goes on
    expect(await wait(4_000)).toBe(false);
    expect(await wait(1_000)).toBe(true);
    expect(await recorder.done).toBeUndefined();
    expect(recorder.counts).toMatchObject({ requests: 2, ended: 1, steps: 3, missed: 1 });
    expect(clock.numPending).toBe(0);
  });

  it('ends a little after the others where one has been silent all the while', async () => {
    const { clock, recorder, say } = await started({ maxRequests: 2, silentMs: 5_000 });
    await say(step('a', 1), step('b', 2));
    for (let number = 3; number < 7; number += 1) {
      clock.advance(4_000);
      await say(step('b', number, { numGenerated: number, position: number }));
    }
    await say(end('b', 7));
    clock.advance(1_000);
    expect(await recorder.done).toBeUndefined();
    expect(recorder.counts).toMatchObject({ requests: 2, ended: 1, steps: 6 });
  });

  it('ends although more requests were open than it keeps', async () => {
    const { clock, recorder, say } = await started({ maxRequests: 3, maxOpenRequests: 2 });
    await say(step('a', 1), step('b', 2), step('c', 3), end('a', 4), end('b', 5), end('c', 6));
    clock.advance(1_000);
    expect(await recorder.done).toBeUndefined();
    expect(recorder.counts).toMatchObject({ requests: 3, ended: 2 });
  });

  it('hears new requests however many never ended: the oldest ones count as over', async () => {
    const { recorder, say } = await started({ maxOpenRequests: 3 });
    await say(...[1, 2, 3, 4, 5].map((number) => step(`r${number}`, number)));
    expect(recorder.counts).toMatchObject({ requests: 5, late: 0 });
    const later = { numGenerated: 1, position: 4 };
    await say(step('r2', 6, later), end('r2', 7), step('r3', 8, later), end('r3', 9));
    expect(recorder.counts).toMatchObject({ requests: 5, steps: 6, late: 1, ended: 1 });
  });

  it('ends with the error where nothing can be written', async () => {
    const { recorder, say } = await started({}, () => {
      throw new Error('no space left');
    });
    await say(step('a', 1));
    const failure = await recorder.done;
    expect(failure).toBeInstanceOf(TokenrailError);
    expect(failure?.message).toContain('no space left');
  });
});
