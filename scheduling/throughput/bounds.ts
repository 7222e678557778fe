import { completeSpec, stepMsOf, type ChainSpec, type CompleteSpec } from './chain-spec.ts';
import { binomialLaw } from './binomial.ts';
import { longRunShares } from './long-run.ts';

/** Tokens that a step at a model commits per row, on average. */
function tokensPerRow({ routing, commits }: CompleteSpec): number[] {
  return routing.map((row, i) => row.reduce((sum, p, j) => sum + p * (commits[i]?.[j] ?? 0), 0));
}

/** Tokens that a row of a step commits in the long run, on average over all models. */
export function longRunTokens(spec: CompleteSpec): number {
  const tokens = tokensPerRow(spec);
  return longRunShares(spec.routing).reduce((sum, share, i) => sum + share * (tokens[i] ?? 0), 0);
}

/**
 * Nobody ever waits: N ÷ mean time of service per token, an upper bound in tokens per second. With step times by rows
 * the shortest counts. For two models N / (L0 + p L1).
 *
 * @throws TokenrailError `config_invalid` for a wrong specification
 */
export function boundThroughput(spec: ChainSpec): number {
  const complete = completeSpec(spec);
  const shares = longRunShares(complete.routing);
  const tokens = tokensPerRow(complete);
  let tokensPerStep = 0;
  let msPerStep = 0;
  for (const [i, share] of shares.entries()) {
    const table = complete.stepMs[i] ?? 0;
    tokensPerStep += share * (tokens[i] ?? 0);
    msPerStep += share * (typeof table === 'number' ? table : Math.min(...table));
  }
  return (1000 * complete.concurrency * tokensPerStep) / msPerStep;
}

/** What one request does in a round of the lockstep engine, by the model it is at when the round begins. */
interface Round {
  /** Where it is when the round ends. */
  to: number[];
  /** Probability that it takes part in each model's step. */
  visits: number[];
}

/** Models have their turns in order; a request that goes to a later one takes part there in the same round. */
function roundFrom(routing: CompleteSpec['routing'], first: number): Round {
  const at = routing.map((_, model) => (model === first ? 1 : 0));
  const next = routing.map(() => 0);
  const visits = routing.map(() => 0);
  for (const [model, row] of routing.entries()) {
    const here = at[model] ?? 0;
    visits[model] = here;
    at[model] = 0;
    for (const [to, p] of row.entries()) {
      const target = to > model ? at : next;
      target[to] = (target[to] ?? 0) + here * p;
    }
  }
  return { to: next, visits };
}

/**
 * One shared loop in which everybody waits for everybody, in tokens per second: in each round every model that has
 * at least one request runs once, in order, with all of them. Exact: requests move independently, so that the rows
 * at a model's turn are binomial. For two models N / (L0 + (1 − (1 − p)^N) L1). Contention does not matter.
 *
 * @throws TokenrailError `config_invalid` for a wrong specification
 */
export function lockstepThroughput(spec: ChainSpec): number {
  const complete = completeSpec(spec);
  const { routing, concurrency } = complete;
  const rounds = routing.map((_, model) => roundFrom(routing, model));
  const shares = longRunShares(rounds.map(({ to }) => to));
  const tokens = tokensPerRow(complete);
  let tokensPerRound = 0;
  let roundMs = 0;
  for (const model of routing.keys()) {
    const visit = shares.reduce((sum, share, from) => sum + share * (rounds[from]?.visits[model] ?? 0), 0);
    tokensPerRound += concurrency * visit * (tokens[model] ?? 0);
    roundMs += meanStepMs(complete, model, visit);
  }
  return (1000 * tokensPerRound) / roundMs;
}

/** Mean time of a model's turn when each request is there with probability `visit`; no step without rows. */
function meanStepMs({ stepMs, concurrency }: CompleteSpec, model: number, visit: number): number {
  const table = stepMs[model] ?? 0;
  return binomialLaw(concurrency, Math.min(1, visit)).reduce(
    (sum, probability, rows) => (rows === 0 ? sum : sum + probability * stepMsOf(table, rows)),
    0,
  );
}
