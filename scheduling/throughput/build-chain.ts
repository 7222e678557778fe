import { TokenrailError } from '../../core/errors.ts';
import { OutcomeTable } from './arrivals.ts';
import { stepTicks, type CompleteSpec } from './chain-spec.ts';
import type { Starter } from './starter.ts';

/** Larger chains are refused: they would take minutes and gigabytes. */
export const MAX_STATES = 2_000_000;

/** Waiting, running and remaining ticks per model, one after the other: the state just after the starts. */
type State = readonly number[];

/** The embedded chain at epochs. Edges are grouped by their target, for Gauss–Seidel on incoming edges. */
export interface Chain {
  numStates: number;
  /** Ticks until the next epoch, contention included, per state. */
  ticks: Float64Array;
  /** Tokens committed at that epoch, on average, per state. */
  tokens: Float64Array;
  /** Edges into state s are at incomingStart[s] … incomingStart[s + 1]. */
  incomingStart: Int32Array;
  incomingFrom: Int32Array;
  incomingProbability: Float64Array;
}

interface Edges {
  from: number[];
  to: number[];
  probability: number[];
}

/**
 * All states that "everybody waits at model 1" leads to under a policy.
 * @throws TokenrailError `config_invalid` where nobody could start any more, or above {@link MAX_STATES}
 */
export function buildChain(spec: CompleteSpec, start: Starter): Chain {
  const lengths = stepTicks(spec);
  const law = new OutcomeTable(spec.routing);
  const states: State[] = [];
  const numbers = new Map<number, number>();
  const radix = lengths.flatMap((length) => [spec.concurrency + 1, spec.concurrency + 1, length + 1]);
  const numberOf = (state: State): number => {
    const key = state.reduce((sum, value, i) => sum * (radix[i] ?? 1) + value, 0);
    let number = numbers.get(key);
    if (number === undefined) {
      numbers.set(key, (number = states.length));
      states.push(state);
    }
    return number;
  };
  const first = new Array<number>(3 * lengths.length).fill(0);
  first[0] = spec.concurrency;
  start(first);
  numberOf(first);
  const edges: Edges = { from: [], to: [], probability: [] };
  const ticks: number[] = [];
  const tokens: number[] = [];
  for (let s = 0; s < states.length; s += 1) {
    if (states.length > MAX_STATES) throw tooLarge();
    const visit = step(spec, law, states[s] ?? [], start);
    ticks.push(visit.ticks);
    tokens.push(visit.tokens);
    for (const [next, probability] of visit.next) {
      edges.from.push(s);
      edges.to.push(numberOf(next));
      edges.probability.push(probability);
    }
  }
  return group(edges, Float64Array.from(ticks), Float64Array.from(tokens));
}

interface Visit {
  ticks: number;
  tokens: number;
  next: [State, number][];
}

/** What happens from a state to the next epoch: time, tokens, and where it may lead. */
function step(spec: CompleteSpec, law: OutcomeTable, state: State, start: Starter): Visit {
  const models = spec.stepMs.map((_, model) => model);
  const running = models.filter((model) => (state[3 * model + 1] ?? 0) > 0);
  if (running.length === 0) throw deadlock(spec.concurrency);
  const shortest = Math.min(...running.map((model) => state[3 * model + 2] ?? 0));
  const ending = running.filter((model) => state[3 * model + 2] === shortest);
  const after = [...state];
  for (const model of running) after[3 * model + 2] = (after[3 * model + 2] ?? 0) - shortest;
  let tokens = 0;
  let reached: [number[], number][] = [[after, 1]];
  for (const model of ending) {
    const rows = state[3 * model + 1] ?? 0;
    tokens += rows * expectedCommits(spec, model);
    after[3 * model + 1] = 0;
    const spread = law.of(model, rows);
    reached = reached.flatMap(([base, before]) =>
      spread.map(({ counts, probability }): [number[], number] => {
        const next = [...base];
        next[3 * model + 1] = 0;
        for (const [to, count] of counts.entries()) next[3 * to] = (next[3 * to] ?? 0) + count;
        return [next, before * probability];
      }),
    );
  }
  for (const [next] of reached) start(next);
  return { ticks: running.length > 1 ? shortest / spec.overlapFactor : shortest, tokens, next: reached };
}

function expectedCommits(spec: CompleteSpec, model: number): number {
  const commits = spec.commits[model] ?? [];
  return (spec.routing[model] ?? []).reduce((sum, p, to) => sum + p * (commits[to] ?? 0), 0);
}

/** Sorts the edges by target. */
function group(edges: Edges, ticks: Float64Array, tokens: Float64Array): Chain {
  const numStates = ticks.length;
  const incomingStart = new Int32Array(numStates + 1);
  for (const to of edges.to) incomingStart[to + 1] = (incomingStart[to + 1] ?? 0) + 1;
  for (let s = 0; s < numStates; s += 1)
    incomingStart[s + 1] = (incomingStart[s + 1] ?? 0) + (incomingStart[s] ?? 0);
  const cursor = incomingStart.slice();
  const incomingFrom = new Int32Array(edges.to.length);
  const incomingProbability = new Float64Array(edges.to.length);
  edges.to.forEach((to, e) => {
    const slot = cursor[to] ?? 0;
    cursor[to] = slot + 1;
    incomingFrom[slot] = edges.from[e] ?? 0;
    incomingProbability[slot] = edges.probability[e] ?? 0;
  });
  return { numStates, ticks, tokens, incomingStart, incomingFrom, incomingProbability };
}

const tooLarge = (): TokenrailError =>
  new TokenrailError('config_invalid', `throughput model: more than ${MAX_STATES} states`);

const deadlock = (concurrency: number): TokenrailError =>
  new TokenrailError('config_invalid', `throughput model: ${concurrency} requests wait and nobody starts`);
