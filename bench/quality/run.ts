import { join } from 'node:path';
import { TokenrailError } from '../../core/errors.ts';
import { packageRoot } from '../../deploy/config/package-root.ts';
import { modelDir } from '../lib/model-dir.ts';
import { machineFacts } from '../ablation/report.ts';
import { loadProblems } from '../lib/problems.ts';
import { algorithmsOf, splitByHead, type Algorithm } from './algorithms.ts';
import { analyse, NUM_RESAMPLES } from './analyse.ts';
import { MODELS, outcomeOf, withRouters, type Run } from './answers.ts';
import { calibrate, type Calibration } from './calibrate.ts';
import { baselines } from './candidate.ts';
import { percent } from './format.ts';
import { pointOf } from './outcome.ts';
import { headParameters, modelParameters } from './parameters.ts';
import type { ListReport, QualityReport } from './report.ts';
import type { QualitySettings } from './settings.ts';

const RANDOM_SHARES = [0.05, 0.1, 0.3];

type Log = (line: string) => void;

/** @throws TokenrailError `config_invalid` if an algorithm was asked for whose network is not there */
function chooseAlgorithms({ algorithms: names, headsDir }: QualitySettings): {
  ready: Algorithm[];
  missing: Algorithm[];
} {
  const all = algorithmsOf(headsDir ?? join(packageRoot, 'models', 'routers'));
  const { ready, missing } = splitByHead(
    all.filter(({ name }) => names === undefined || names.includes(name)),
  );
  const [first] = missing;
  if (names !== undefined && first !== undefined)
    throw new TokenrailError('config_invalid', `--algorithms: ${missingLine(first)}`, {
      param: '--algorithms',
    });
  return { ready, missing };
}

const missingLine = ({ name, head }: Algorithm): string => `${name}: there is no ${head}`;

function parametersOf(algorithms: readonly Algorithm[]): Map<string, number> {
  const models = MODELS.map((name): [string, number] => [name, modelParameters(modelDir(name))]);
  const heads = algorithms.flatMap(({ head }): [string, number][] =>
    head === undefined ? [] : [[head, headParameters(head)]],
  );
  return new Map([...models, ...heads]);
}

/** Calibrates, then answers the reported lists, which nothing has read before. */
export async function runQuality(settings: QualitySettings, log: Log): Promise<QualityReport> {
  const startedMs = performance.now();
  const { ready, missing } = chooseAlgorithms(settings);
  for (const algorithm of missing) log(`left out, ${missingLine(algorithm)}`);
  const parameters = parametersOf(ready);
  const calibration = await calibrate({
    ...settings,
    algorithms: ready,
    problems: loadProblems('validation', settings.numValidation),
    log,
  });
  for (const { algorithm, chosen } of calibration.algorithms)
    log(
      chosen === undefined
        ? `${algorithm.name}: no threshold kept the share`
        : `chosen: ${chosen.candidate.id}`,
    );
  const lists = await answerLists(settings, calibration, parameters, log);
  return {
    machine: machineFacts('as serve chooses'),
    settings: {
      concurrency: settings.concurrency,
      seed: settings.seed,
      maxShare: settings.maxShare,
      resamples: NUM_RESAMPLES,
    },
    missing: missing.map(({ name, head = '' }) => ({ algorithm: name, file: head })),
    parameters: Object.fromEntries(parameters),
    validation: validationOf(calibration),
    lists,
    seconds: (performance.now() - startedMs) / 1000,
  };
}

function validationOf({ algorithms, ...facts }: Calibration): QualityReport['validation'] {
  const points = algorithms.flatMap(({ algorithm, points: own, chosen }) =>
    own.map((point) => ({
      algorithm: algorithm.name,
      threshold: point.threshold,
      share: point.share,
      accuracy: point.accuracy,
      isChosen: point === chosen,
    })),
  );
  return { ...facts, points };
}

async function answerLists(
  settings: QualitySettings,
  { algorithms }: Calibration,
  parameters: ReadonlyMap<string, number>,
  log: Log,
): Promise<ListReport[]> {
  const points = algorithms.flatMap(({ reported }) => reported.map(({ candidate }) => candidate));
  const candidates = [...baselines(RANDOM_SHARES), ...points];
  const chosen = new Set(
    algorithms.flatMap((one) => (one.chosen === undefined ? [] : [one.chosen.candidate.id])),
  );
  return withRouters(candidates, async (deployed) => {
    const reports: ListReport[] = [];
    for (const list of settings.lists) {
      const problems = loadProblems(list, settings.numProblems);
      log(`${list}, ${problems.length} problems`);
      const runs: Run[] = [];
      for (const candidate of candidates) {
        const run = await deployed.answer(candidate, problems, settings.concurrency);
        const { share, accuracy } = pointOf(outcomeOf(run));
        log(`  ${candidate.id}: ${percent(accuracy)} with ${percent(share)} of the tokens from large`);
        runs.push(run);
      }
      const { maxShare, seed } = settings;
      reports.push(
        analyse({
          list,
          runs,
          chosen,
          algorithms: algorithms.map(({ algorithm }) => algorithm),
          parameters,
          maxShare,
          seed,
        }),
      );
    }
    return reports;
  });
}
