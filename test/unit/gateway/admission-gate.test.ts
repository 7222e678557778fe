import { describe, expect, it } from 'vitest';
import { AdmissionGate } from '../../../actors/gateway/admission-gate.ts';

describe('AdmissionGate', () => {
  it('lets exactly maxInflight in, queues exactly maxQueue and refuses the rest', () => {
    const gate = new AdmissionGate(4, 8);
    const started: number[] = [];
    for (let i = 0; i < 12; i += 1) gate.enter(() => started.push(i));
    expect(started).toEqual([0, 1, 2, 3]);
    expect([gate.numInside, gate.numQueued, gate.isFull]).toEqual([4, 8, true]);
    expect(() => gate.enter(() => started.push(12))).toThrow(expect.objectContaining({ code: 'overloaded' }));
  });

  it('starts the queued in order of arrival as places are freed', () => {
    const gate = new AdmissionGate(1, 3);
    const started: string[] = [];
    const first = gate.enter(() => started.push('a'));
    const second = gate.enter(() => started.push('b'));
    gate.enter(() => started.push('c'));
    first.leave();
    expect(started).toEqual(['a', 'b']);
    second.leave();
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('lets abandoned entries go at once, so that their places are free', () => {
    const gate = new AdmissionGate(1, 1);
    const started: string[] = [];
    const inside = gate.enter(() => started.push('a'));
    const abandoned = gate.enter(() => started.push('b'));
    abandoned.leave();
    expect(gate.isFull).toBe(false);
    gate.enter(() => started.push('c'));
    inside.leave();
    expect(started).toEqual(['a', 'c']);
  });

  it('counts a ticket that is given back twice once', () => {
    const gate = new AdmissionGate(1, 2);
    const ticket = gate.enter(() => {});
    gate.enter(() => {});
    gate.enter(() => {});
    ticket.leave();
    ticket.leave();
    expect([gate.numInside, gate.numQueued]).toEqual([1, 1]);
  });

  it('survives an entry that leaves while it is being started', () => {
    const gate = new AdmissionGate(1, 2);
    const first = gate.enter(() => {});
    const started: string[] = [];
    const second = gate.enter(() => {
      started.push('b');
      second.leave();
    });
    gate.enter(() => started.push('c'));
    first.leave();
    expect(started).toEqual(['b', 'c']);
    expect(gate.numInside).toBe(1);
  });
});
