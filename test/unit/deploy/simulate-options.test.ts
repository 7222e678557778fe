import { describe, expect, it } from 'vitest';
import { parseSimulate, type SimulateText } from '../../../deploy/simulate/options.ts';
import { makeReport, reportText } from '../../../deploy/simulate/report.ts';

const base: SimulateText = { stepMs: '6,27.9', p: '0.35', concurrency: '8' };

describe('options of tokenrail simulate', () => {
  it('have the defaults of the help', () => {
    const { options, policy, policies, thresholds } = parseSimulate(base);
    expect(policy).toBe('auto');
    expect(policies).toEqual([{ kind: 'auto' }, { kind: 'auto' }]);
    expect(thresholds).toBeNull();
    expect(options).toMatchObject({
      concurrency: 8,
      totalTokens: 200_000,
      tokensPerRequest: 256,
      promptTokens: 16,
      overlapFactor: 1,
      network: { hopMs: 0 },
      seed: 1,
      matrices: { routing: [[0.65, 0.35], [1, 0]], commits: [[1, 0], [1, 0]] }, // prettier-ignore
    });
  });

  it('are all read', () => {
    const { options, policies } = parseSimulate({
      ...base,
      policy: 'threshold',
      thresholds: '1,5',
      maxWaitMs: '40',
      runLength: 'bursty',
      jitter: '0.1',
      replicas: '2,1',
      hopMs: '0.2',
      seed: '9',
      drain: '16,64,1024',
    });
    expect(policies).toEqual([1, 5].map((threshold) => ({ kind: 'threshold', threshold, maxWaitMs: 40 })));
    expect(options.models).toEqual([
      { stepTime: { baseMs: 6, jitter: 0.1 }, law: { kind: 'bursty', leave: 0.35 }, replicas: 2 },
      { stepTime: { baseMs: 27.9, jitter: 0.1 }, law: { kind: 'bernoulli' }, replicas: 1 },
    ]);
    expect(options).toMatchObject({ seed: 9, drain: { numRequests: 16, minTokens: 64, maxTokens: 1024 } });
  });

  it('a shift needs no p of its own', () => {
    const { options } = parseSimulate({ stepMs: '6,27.9', shiftP: '.05,.5,4000' });
    expect(options.shift?.everyTokens).toBe(4000);
    expect(options.shift?.matrices.map(({ routing }) => routing[0])).toEqual([
      [0.95, 0.05],
      [0.5, 0.5],
    ]);
  });

  it.each<[Partial<SimulateText>, string]>([
    [{ policy: 'treshold' }, '--policy'],
    [{ policy: 'threshold' }, '--thresholds'],
    [{ policy: 'threshold', thresholds: '1' }, '--thresholds'],
    [{ policy: 'eager', thresholds: '1,5' }, '--thresholds'],
    [{ concurrency: '0' }, '--concurrency'],
    [{ concurrency: '2.5' }, '--concurrency'],
    [{ tokens: 'many' }, '--tokens'],
    [{ runLength: 'pareto' }, '--run-length'],
    [{ runLength: 'correlated=2' }, '--run-length'],
    [{ shiftP: '0,.5,100' }, '--shift-p'],
    [{ shiftP: '.1,.5,10.5' }, '--shift-p'],
    [{ shiftP: '.1,.5' }, '--shift-p'],
    [{ shiftP: '.1,.5,100', runLength: 'bursty' }, '--run-length'],
    [{ drain: '16,100,64' }, '--drain'],
    [{ replicas: '1' }, '--replicas'],
    [{ overlapFactor: '0' }, '--overlap-factor'],
    [{ hopMs: '-1' }, '--hop-ms'],
    [{ hopMs: '1e9' }, '--hop-ms'],
    [{ tokens: '1e12' }, '--tokens'],
    [{ tokensPerRequest: '1e9' }, '--tokens-per-request'],
    [{ drain: '1e6,1,1' }, '--drain'],
  ])('%o is refused, naming %s', (change, flag) => {
    expect(() => parseSimulate({ ...base, ...change })).toThrow(flag);
  });
});

describe('the report', () => {
  const result = {
    tokensPerSecond: 399.0512345678,
    ci95: NaN,
    uncontrolled: { tokensPerSecond: 400, ci95: NaN },
    meanRows: [3, 5],
    admissionDelayMs: [0.1, 12],
    utilisation: [0.8, 0.7],
    tokens: 1000,
    virtualSeconds: 2.5,
    mismatches: 0,
    seed: 1,
  };

  it('is labelled, has the keys of the contract, and no number that JSON lacks', () => {
    const report = makeReport(result, { policy: 'eager', thresholds: null, wallSeconds: 1.23456 });
    expect(report).toMatchObject({
      simulated: true,
      tokensPerSecond: 399.051235,
      ci95: null,
      wallSeconds: 1.235,
    });
    const contract =
      'tokensPerSecond ci95 policy thresholds meanRows admissionDelayMs utilisation tokens virtualSeconds wallSeconds mismatches seed';
    for (const key of contract.split(' ')) expect(report).toHaveProperty(key);
    expect(reportText(report)).toMatch(/^simulated: 399\.05 tokens\/s/);
    expect(reportText({ ...report, mismatches: 3 })).toContain('3 TOKENS DIFFER');
  });
});
