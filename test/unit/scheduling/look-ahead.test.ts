import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPolicy, type PeerView, type PolicySpec, type QueueView } from '../../../scheduling/index.ts';

const peer = (change: Partial<PeerView> = {}): PeerView => ({
  model: 2,
  replica: 'r0',
  rowsRunning: 4,
  stepLeftMs: 2,
  waiting: 0,
  aliveAtHome: 0,
  shareToHere: 1,
  ...change,
});

const view = (change: Partial<QueueView> = {}): QueueView => ({
  self: 1,
  home: 1,
  nowMs: 100,
  waiting: 2,
  oldestWaitMs: 0,
  alive: 10,
  maxNumSeqs: 32,
  isSystemStalled: false,
  peers: [peer()],
  stepMs: () => 6,
  stepJitter: 0,
  overlapFactor: 1,
  ...change,
});

const lookAhead = createPolicy({ kind: 'look-ahead' });
const kindOf = (change: Partial<QueueView>, spec?: PolicySpec): string =>
  (spec ? createPolicy(spec) : lookAhead).decide(view(change)).kind;

describe('look-ahead', () => {
  it('holds exactly while waiting for the next completion pays', () => {
    // k w < κ a (L − w): with w = 2 and L = 6, two arrivals outweigh fewer than four waiting rows.
    expect(kindOf({ waiting: 3, peers: [peer({ rowsRunning: 2 })] })).toBe('hold');
    expect(kindOf({ waiting: 4, peers: [peer({ rowsRunning: 2 })] })).toBe('start');
    expect(kindOf({ waiting: 3, peers: [peer({ rowsRunning: 4, shareToHere: 0.5 })] })).toBe('hold');
    expect(kindOf({ waiting: 1, peers: [peer({ stepLeftMs: 6.5 })] })).toBe('start'); // it comes after this step
  });

  it('holds less gladly at a guest, and as told', () => {
    const even = { waiting: 19, peers: [peer({ rowsRunning: 10 })], alive: 40 }; // 38 against κ · 40
    expect(kindOf(even)).toBe('hold');
    expect(kindOf({ ...even, home: 3 })).toBe('start');
    expect(kindOf(even, { kind: 'look-ahead', kappa: 0.9 })).toBe('start');
    expect(kindOf({ ...even, home: 3 }, { kind: 'look-ahead', kappa: 1 })).toBe('hold');
    expect(kindOf({ ...even, stepJitter: 0.05 })).toBe('start');
  });

  it('adds up what several peers bring until the last of them ends', () => {
    const [first, second] = [peer({ rowsRunning: 1, stepLeftMs: 1.5 }), peer({ model: 3, rowsRunning: 4 })];
    expect(kindOf({ waiting: 5, peers: [first] })).toBe('start'); // 7.5 ≥ 4.5
    expect(kindOf({ waiting: 5, peers: [second] })).toBe('hold'); // 10 < 16
    expect(kindOf({ waiting: 9, peers: [second] })).toBe('start'); // 18 ≥ 16
    const decision = lookAhead.decide(view({ waiting: 9, peers: [second, first] })); // 18 < 20
    expect(decision).toEqual({ kind: 'hold', forMs: 2 + 0.1 * 6 });
  });

  it('counts what a start takes from those who share the device', () => {
    const peers = [peer({ rowsRunning: 4, stepLeftMs: 4, shareToHere: 0.1 })];
    expect(kindOf({ waiting: 2, peers })).toBe('start');
    expect(kindOf({ waiting: 2, peers, overlapFactor: 0.5 })).toBe('hold');
  });

  it('starts where it knows too little', () => {
    expect(kindOf({ waiting: 1, stepMs: () => 0 })).toBe('start');
    expect(kindOf({ waiting: 1, stepMs: () => NaN })).toBe('start');
    expect(kindOf({ waiting: 1, peers: [peer({ shareToHere: 0 })] })).toBe('start');
    expect(kindOf({ waiting: 1, peers: [] })).toBe('start');
    expect(kindOf({ waiting: 1, peers: [peer({ rowsRunning: 0, stepLeftMs: 0, waiting: 9 })] })).toBe(
      'start',
    );
  });

  it('waits only a short grace for a step that is overdue', () => {
    expect(lookAhead.decide(view({ peers: [peer({ stepLeftMs: -0.2 })] }))).toEqual({
      kind: 'hold',
      forMs: expect.closeTo(0.4) as number,
    });
    expect(kindOf({ waiting: 1, peers: [peer({ stepLeftMs: -0.7 })] })).toBe('start');
    const takeTurns: PolicySpec = { kind: 'take-turns' };
    expect(kindOf({ peers: [peer({ stepLeftMs: -0.2 })] }, takeTurns)).toBe('hold');
    expect(kindOf({ peers: [peer({ stepLeftMs: -3.1 })], stepJitter: 9 }, takeTurns)).toBe('start');
  });
});

describe('threshold-hold', () => {
  it('is a threshold at guests and look-ahead at the home', () => {
    const spec: PolicySpec = { kind: 'threshold-hold', threshold: 3 };
    expect(kindOf({ waiting: 2, peers: [] }, spec)).toBe('start');
    expect(kindOf({ waiting: 2 }, spec)).toBe('hold');
    expect(kindOf({ waiting: 2, peers: [], home: 2 }, spec)).toBe('hold');
    expect(kindOf({ waiting: 3, home: 2 }, spec)).toBe('start');
  });
});

describe('take-turns', () => {
  it('never starts while another model runs, and then only with its rows', () => {
    const spec: PolicySpec = { kind: 'take-turns', threshold: 3 };
    expect(createPolicy(spec).decide(view({ waiting: 9 }))).toEqual({ kind: 'hold', forMs: 2 + 0.1 * 6 });
    expect(kindOf({ waiting: 3, peers: [peer({ rowsRunning: 0, stepLeftMs: 0 })] }, spec)).toBe('start');
    expect(kindOf({ waiting: 2, peers: [peer({ rowsRunning: 0, stepLeftMs: 0 })] }, spec)).toBe('hold');
    expect(kindOf({ waiting: 3, peers: [peer({ model: 1 })] }, spec)).toBe('start'); // a replica is no other model
  });
});

describe('a table of thresholds', () => {
  it('goes by the requests alive, its last value beyond', () => {
    const spec: PolicySpec = { kind: 'threshold', threshold: [1, 1, 2, 4] };
    expect(kindOf({ waiting: 1, alive: 2 }, spec)).toBe('start');
    expect(kindOf({ waiting: 1, alive: 3 }, spec)).toBe('hold');
    expect(kindOf({ waiting: 3, alive: 4 }, spec)).toBe('hold');
    expect(kindOf({ waiting: 4, alive: 99 }, spec)).toBe('start');
    expect(createPolicy(spec).name).toBe('threshold(1:1:2:4)');
  });
});

describe('specifications', () => {
  it('refuses what a kind does not take, naming it', () => {
    const wrong: [PolicySpec, string][] = [
      [{ kind: 'sometimes' as 'eager' }, 'policy.kind'],
      [{ kind: 'toString' as 'eager' }, 'policy.kind'],
      [{ kind: 'eager', threshold: 2 }, 'policy.threshold'],
      [{ kind: 'look-ahead', threshold: 2 }, 'policy.threshold'],
      [{ kind: 'threshold', kappa: 1 }, 'policy.kappa'],
      [{ kind: 'threshold', threshold: [] }, 'policy.threshold'],
      [{ kind: 'threshold', threshold: [2, 0] }, 'policy.threshold'],
      [{ kind: 'look-ahead', kappa: -1 }, 'policy.kappa'],
      [{ kind: 'look-ahead', kappa: Infinity }, 'policy.kappa'],
      [{ kind: 'take-turns', maxWaitMs: NaN }, 'policy.maxWaitMs'],
      [{ kind: 'auto', admissionP99Ms: 0 }, 'policy.admissionP99Ms'],
      [{ kind: 'eager', patience: 3 } as PolicySpec, 'policy.patience'],
    ];
    for (const [spec, param] of wrong)
      expect(() => createPolicy(spec), JSON.stringify(spec)).toThrow(
        expect.objectContaining({ code: 'config_invalid', param }),
      );
  });
});

describe('every policy', () => {
  const ms = fc.oneof(fc.double({ min: -50, max: 500, noNaN: true }), fc.constantFrom(0, NaN, -1, 1e-9));
  const count = fc.integer({ min: 1, max: 40 });
  const specs = fc.oneof<fc.Arbitrary<PolicySpec>[]>(
    fc.record({ kind: fc.constant('threshold' as const), threshold: count }),
    fc.record({
      kind: fc.constant('look-ahead' as const),
      kappa: fc.double({ min: 0, max: 50, noNaN: true }),
    }),
    fc.record({ kind: fc.constant('threshold-hold' as const), threshold: fc.array(count, { minLength: 1 }) }),
    fc.record({ kind: fc.constant('take-turns' as const), threshold: count }),
    fc.record({ kind: fc.constantFrom('eager' as const, 'auto' as const) }),
  );
  const peers = fc.array(
    fc.record({
      model: fc.integer({ min: 1, max: 3 }),
      replica: fc.constant('r'),
      rowsRunning: fc.integer({ min: 0, max: 8 }),
      stepLeftMs: ms,
      waiting: fc.nat(8),
      aliveAtHome: fc.nat(8),
      shareToHere: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { maxLength: 4 },
  );

  it('holds for a time that clocks resolve and the ceiling allows, and never against an escape', () => {
    fc.assert(
      fc.property(
        specs,
        fc.record({ self: fc.constantFrom(1, 2), waiting: count, alive: count, oldestWaitMs: fc.nat(300) }),
        peers,
        fc.record({ stepLengthMs: ms, stepJitter: fc.double({ min: 0, max: 3, noNaN: true }) }),
        fc.boolean(),
        (spec, queue, around, { stepLengthMs, stepJitter }, isSystemStalled) => {
          const seen = view({
            ...queue,
            peers: around,
            stepJitter,
            isSystemStalled,
            stepMs: () => stepLengthMs,
          });
          const decision = createPolicy({ ...spec, maxWaitMs: 200 }).decide(seen);
          if (decision.kind === 'start') return;
          expect(decision.forMs).toBeGreaterThanOrEqual(0.001);
          expect(decision.forMs + queue.oldestWaitMs).toBeLessThanOrEqual(200 + 1e-9);
          expect(isSystemStalled).toBe(false);
          if (spec.kind !== 'take-turns') expect(queue.waiting).toBeLessThan(queue.alive);
        },
      ),
      { numRuns: 3000 },
    );
  });
});
