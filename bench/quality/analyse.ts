import { type Algorithm, isTrained } from './algorithms.ts';
import { HOME, outcomeOf, promptUncertainty, type Run } from './answers.ts';
import { LARGE, SMALL } from './candidate.ts';
import { curveReference, gapOf, type Reference } from './gap.ts';
import { accuracyOf, pointOf, standardErrorOf, type Outcome, type Weights } from './outcome.ts';
import { activatedParameters } from './passes.ts';
import { oracleQueries, randomQueries, uncertainQueries, type QueryLevel } from './query-level.ts';
import type { Comparison, ListReport, QualityRow, ReferenceCurve } from './report.ts';
import { mcNemar, resamples, spreadOf } from './resampling.ts';

export const NUM_RESAMPLES = 1000;
/** The goal: this share of the large model's accuracy. */
export const GOAL = 0.98;
const PLAIN_ENTROPY = 'entropy';
const NUM_REFERENCE_POINTS = 100;

export interface AnalyseOptions {
  list: string;
  runs: readonly Run[];
  /** Ids of the operating points. */
  chosen: ReadonlySet<string>;
  algorithms: readonly Algorithm[];
  /** Of models by name, and of networks by file. */
  parameters: ReadonlyMap<string, number>;
  maxShare: number;
  seed: number;
}

/** Everything that the answers to one list say. */
export function analyse(options: AnalyseOptions): ListReport {
  const { list, runs, algorithms, maxShare, seed } = options;
  const outcomes = new Map(runs.map((run) => [run.candidate.id, outcomeOf(run)]));
  const small = named(outcomes, SMALL.id);
  const large = named(outcomes, LARGE.id);
  const samples = resamples(large.correct.length, NUM_RESAMPLES, seed);
  const rows = runs.map((run) => rowOf(run, named(outcomes, run.candidate.id), large, samples, options));
  const curves = algorithms.map((algorithm) => {
    const own = runs.filter(({ candidate }) => candidate.algorithm === algorithm.name);
    return { algorithm, outcomes: own.map(({ candidate }) => named(outcomes, candidate.id)) };
  });
  const smallRun = runs.find(({ candidate }) => candidate.id === SMALL.id);
  const uncertainty = smallRun === undefined ? [] : promptUncertainty(smallRun);
  const queries = [
    randomQueries(small, large),
    uncertainQueries(small, large, uncertainty),
    oracleQueries(small, large),
  ];
  const reached = rows.filter(
    ({ isChosen, ofLarge, share }) => isChosen && ofLarge.ratio >= GOAL && share <= maxShare,
  );
  const trained = new Set(algorithms.filter(isTrained).map(({ name }) => name));
  const namesOf = (some: readonly QualityRow[]): string[] => some.map(({ algorithm = '' }) => algorithm);
  return {
    list,
    problems: large.correct.length,
    rows,
    references: queries.map((query) => sampled(query, rows)),
    againstQueries: curves.flatMap((curve) =>
      queries.map(({ name, accuracyAt }) =>
        comparison(curve.algorithm.name, curve.outcomes, name, accuracyAt, samples),
      ),
    ),
    againstEntropy: againstEntropy(curves, samples),
    goal: {
      maxShare,
      ofLarge: GOAL,
      reachedBy: namesOf(reached),
      reachedByTrained: namesOf(reached).filter((name) => trained.has(name)),
      numTrained: trained.size,
    },
  };
}

function named(outcomes: ReadonlyMap<string, Outcome>, id: string): Outcome {
  const outcome = outcomes.get(id);
  if (outcome === undefined) throw new Error(`${id} was not run`);
  return outcome;
}

function rowOf(
  { candidate, answers, seconds }: Run,
  outcome: Outcome,
  large: Outcome,
  samples: readonly Weights[],
  { chosen, parameters }: AnalyseOptions,
): QualityRow {
  const { id, label, algorithm, threshold, note, head } = candidate;
  const { share, accuracy } = pointOf(outcome);
  const ratio = (weights?: Weights): number => accuracyOf(outcome, weights) / accuracyOf(large, weights);
  const { low, high } = spreadOf(samples, ratio);
  const numTokens = outcome.tokens.reduce((sum, tokens) => sum + tokens, 0);
  const headSize = head === undefined ? 0 : (parameters.get(head) ?? 0);
  return {
    id,
    label,
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(threshold === undefined ? {} : { threshold }),
    ...(note === undefined ? {} : { note }),
    isChosen: chosen.has(id),
    problems: answers.length,
    share,
    accuracy,
    standardError: standardErrorOf(accuracy, answers.length),
    ofLarge: { ratio: ratio(), low, high },
    mcNemarP: mcNemar(outcome.correct, large.correct).p,
    activatedParameters: activatedParameters(answers, parameters, HOME, headSize),
    tokensPerAnswer: numTokens / answers.length,
    handoffsPerAnswer: answers.reduce((sum, { handoffs }) => sum + handoffs, 0) / answers.length,
    tokensPerSecond: numTokens / seconds,
  };
}

function comparison(
  algorithm: string,
  curve: readonly Outcome[],
  name: string,
  reference: Reference,
  samples: readonly Weights[],
  within?: { from: number; to: number },
): Comparison {
  const gap = gapOf(curve, reference, samples, within);
  const isAbove = gap !== undefined && gap.smallest > 0;
  return { algorithm, reference: name, isAbove, ...(gap === undefined ? {} : { gap }) };
}

function againstEntropy(
  curves: readonly { algorithm: Algorithm; outcomes: readonly Outcome[] }[],
  samples: readonly Weights[],
): Comparison[] {
  const plain = curves.find(({ algorithm }) => algorithm.name === PLAIN_ENTROPY);
  if (plain === undefined) return [];
  const { reference, ...within } = curveReference(plain.outcomes);
  return curves
    .filter(({ algorithm }) => isTrained(algorithm))
    .map(({ algorithm, outcomes }) =>
      comparison(algorithm.name, outcomes, PLAIN_ENTROPY, reference, samples, within),
    );
}

/** Query-level routing activates one of the two models for each token. */
function sampled({ name, accuracyAt }: QueryLevel, rows: readonly QualityRow[]): ReferenceCurve {
  const sizeOf = (id: string): number =>
    rows.find((row) => row.id === id)?.activatedParameters.bySteps ?? NaN;
  const points = Array.from({ length: NUM_REFERENCE_POINTS + 1 }, (_, i) => {
    // Evenly on a logarithmic axis from 0.5 % to 100 %.
    const share = 0.005 ** (1 - i / NUM_REFERENCE_POINTS);
    const activated = (1 - share) * sizeOf(SMALL.id) + share * sizeOf(LARGE.id);
    return { share, accuracy: accuracyAt(share), activatedParameters: activated };
  });
  return { name, points };
}
