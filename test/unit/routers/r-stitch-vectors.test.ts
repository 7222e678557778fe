import { describe, expect, it } from 'vitest';
import { uniform } from '../../../core/random.ts';
import { entropyNats, normalizedEntropy } from '../../../routers/entropy.ts';
import { rStitch } from '../../../routers/r-stitch.ts';
import { goldenIds, goldenVectors, logitsOf } from './golden.ts';
import { contextOf, rowOf, rowsWithEntropy } from './rows.ts';
import { SequentialDriver, type ScriptedModel } from './sequential-driver.ts';

const HOME = 1;
const GUEST = 2;
const routersFor = (threshold?: number) => {
  const options = threshold === undefined ? {} : { threshold };
  return { home: rStitch(contextOf(HOME, options)), guest: rStitch(contextOf(GUEST, options)) };
};
const covered = new Set<string>();

type Destination = 'local' | 'slm' | 'llm';
interface SignalExpected {
  entropyNats: number;
  normalizedEntropy: number;
  slmDestination: Destination;
  llmDestination: Destination;
}
const DESTINATION_ID: Record<Destination, number> = { local: 0, slm: HOME, llm: GUEST };

describe('R-Stitch, golden vectors', () => {
  type SignalInput = { logits: (number | null)[]; tau: number };
  for (const { id, input, expected, tolerance = 0 } of goldenVectors<SignalInput, SignalExpected>(
    'r-stitch',
    'signal',
  )) {
    it(id, () => {
      const logits = logitsOf(input.logits);
      expect(Math.abs(entropyNats(logits) - expected.entropyNats)).toBeLessThanOrEqual(tolerance);
      const signal = normalizedEntropy(logits);
      expect(Math.abs(signal - expected.normalizedEntropy)).toBeLessThanOrEqual(tolerance);
      const { home, guest } = routersFor(input.tau);
      expect(home.route(rowsWithEntropy(signal))).toEqual([DESTINATION_ID[expected.slmDestination]]);
      expect(guest.route(rowsWithEntropy(signal))).toEqual([DESTINATION_ID[expected.llmDestination]]);
    });
    covered.add(id);
  }

  type RouteInput = { selfId: number; peerId: number; tau: number; logits: (number | null)[][] };
  for (const { id, input, expected } of goldenVectors<RouteInput, { destination: number[] }>(
    'r-stitch',
    'route',
  )) {
    it(id, () => {
      const router = rStitch(contextOf(input.selfId, { threshold: input.tau }));
      const rows = rowsWithEntropy(...input.logits.map((logits) => normalizedEntropy(logitsOf(logits))));
      expect(router.route(rows)).toEqual(expected.destination);
    });
    covered.add(id);
  }

  interface GuardExpected {
    slmNormalizedEntropy: number;
    llmNormalizedEntropy: number;
    tokensPerRoundTripIfLlmSendKeepsToken: number;
  }
  type GuardInput = { tau: number; position: number; slmLogits: number[]; llmLogits: number[] };
  for (const { id, input, expected, tolerance = 0 } of goldenVectors<GuardInput, GuardExpected>(
    'r-stitch',
    'invariant',
  )) {
    it(id, () => {
      const { home, guest } = routersFor(input.tau);
      const doubt = normalizedEntropy(logitsOf(input.slmLogits));
      const certainty = normalizedEntropy(logitsOf(input.llmLogits));
      expect(Math.abs(doubt - expected.slmNormalizedEntropy)).toBeLessThanOrEqual(tolerance);
      expect(Math.abs(certainty - expected.llmNormalizedEntropy)).toBeLessThanOrEqual(tolerance);
      expect(home.route(rowsWithEntropy(doubt))).toEqual([GUEST]);
      expect(guest.route(rowsWithEntropy(certainty))).toEqual([HOME]);
      const keptPerRoundTrip = [home, guest].filter((router) => router.onHandoff === 'keep').length;
      expect(keptPerRoundTrip).toBe(expected.tokensPerRoundTripIfLlmSendKeepsToken);
    });
    covered.add(id);
  }
});

interface TraceExpected {
  output: number[];
  events: Record<string, unknown>[];
}
interface TraceInput {
  tau?: number;
  eos: number;
  prompt: number[];
  home: number;
  maxNew: number;
  logitsByModelAndPosition?: Record<string, Record<string, (number | null)[]>>;
  steps?: { at: number; sampled: number; route: number }[];
}

/** A model that follows a list of logits per position, greedily. */
function fromLogits(id: number, input: TraceInput): ScriptedModel {
  return {
    router: rStitch(contextOf(id, { threshold: input.tau })),
    step: (position) => {
      const logits = logitsOf(input.logitsByModelAndPosition?.[id]?.[position] ?? []);
      return {
        sampled: logits.indexOf(Math.max(...logits)),
        row: { normalizedEntropy: normalizedEntropy(logits) },
      };
    },
  };
}

/** Models that follow a list of steps; the entropy of each is chosen so that R-Stitch routes as listed. */
function fromSteps(input: TraceInput): Map<number, ScriptedModel> {
  const steps = [...(input.steps ?? [])];
  const modelOf = (id: number): ScriptedModel => ({
    router: rStitch(contextOf(id)),
    step: () => {
      const next = steps.shift();
      if (next?.at !== id) throw new Error(`step at model ${id}, the script says ${next?.at}`);
      const isUncertain = id === HOME ? next.route !== 0 : next.route === 0;
      return { sampled: next.sampled, row: { normalizedEntropy: isUncertain ? 1 : 0 } };
    },
  });
  return new Map([HOME, GUEST].map((id) => [id, modelOf(id)]));
}

describe('R-Stitch, golden traces', () => {
  for (const { id, input, expected } of goldenVectors<TraceInput, TraceExpected>('r-stitch', 'trace')) {
    it(id, () => {
      const models = input.steps
        ? fromSteps(input)
        : new Map([HOME, GUEST].map((model) => [model, fromLogits(model, input)]));
      const driver = new SequentialDriver(models, input);
      expect(driver.run()).toEqual(expected.output);
      expect(driver.events).toEqual(expected.events);
    });
    covered.add(id);
  }
});

/** Shares and rates of the closed chain: the stationary distribution of P, weighed by committed tokens C. */
function chainOf(P: number[][], C: number[][]) {
  let share = P.map(() => 1 / P.length);
  for (let i = 0; i < 10_000; i += 1) {
    share = share.map((_, j) => share.reduce((sum, weight, from) => sum + weight * (P[from]?.[j] ?? 0), 0));
  }
  const tokens = share.map((weight, i) =>
    (P[i] ?? []).reduce((sum, p, j) => sum + weight * p * (C[i]?.[j] ?? 0), 0),
  );
  const total = tokens.reduce((sum, value) => sum + value, 0);
  return {
    stepShare: share,
    committedPerStep: total,
    tokenShareByModel: tokens.map((value) => value / total),
    stepsPerCommittedToken: share.map((value) => value / total),
  };
}

describe('R-Stitch in the throughput model', () => {
  type ThroughputInput = { P: number[][]; C: number[][] };
  type ThroughputExpected = ReturnType<typeof chainOf>;
  for (const { id, input, expected, tolerance } of goldenVectors<ThroughputInput, ThroughputExpected>(
    'r-stitch',
    'throughput',
  )) {
    it(`${id}: the hooks commit what C says, and the chain has the stated shares`, () => {
      const { home, guest } = routersFor();
      const committed = [home, guest].map((router, i) =>
        [0, 1].map((j) => (i === j || router.onHandoff === 'keep' ? 1 : 0)),
      );
      expect(committed).toEqual(input.C);
      const chain = chainOf(input.P, committed);
      const digits = Math.round(-Math.log10((tolerance ?? 1e-6) * 2));
      chain.stepShare.forEach((value, i) => expect(value).toBeCloseTo(expected.stepShare[i] ?? NaN, digits));
      chain.tokenShareByModel.forEach((value, i) =>
        expect(value).toBeCloseTo(expected.tokenShareByModel[i] ?? NaN, digits),
      );
      chain.stepsPerCommittedToken.forEach((value, i) =>
        expect(value).toBeCloseTo(expected.stepsPerCommittedToken[i] ?? NaN, digits),
      );
      expect(chain.committedPerStep).toBeCloseTo(expected.committedPerStep, digits);
    });

    it(`${id}: 40,000 steps through route give these shares`, () => {
      const { home, guest } = routersFor();
      const [[, p = NaN] = [], [q = NaN] = []] = input.P;
      const tokens = [0, 0];
      let at = HOME;
      for (let position = 0; position < 40_000; position += 1) {
        const u = uniform({ seed: 5, position, model: at, purpose: 'simulation' });
        const router = at === HOME ? home : guest;
        const isUncertain = at === HOME ? u < p : u >= q;
        const [destination = 0] = Array.from(
          router.route([rowOf({ normalizedEntropy: isUncertain ? 0.5 : 0.01 })]),
        );
        if (destination === 0 || router.onHandoff === 'keep') tokens[at - 1] = (tokens[at - 1] ?? 0) + 1;
        if (destination !== 0) at = destination;
      }
      const [small = 0, large = 0] = tokens;
      expect(large / (small + large)).toBeCloseTo(expected.tokenShareByModel[1] ?? NaN, 2);
      expect((small + large) / 40_000).toBeCloseTo(expected.committedPerStep, 2);
    });
    covered.add(id);
  }

  it('left out no R-Stitch vector', () => {
    expect([...covered].sort()).toEqual(goldenIds(['r-stitch']).sort());
  });
});
