import { availableParallelism } from 'node:os';
import { silentLogger } from '../../core/log.ts';
import { Lab } from '../lab/lab.ts';
import { baselineDriver, policiesOf, RUNTIME_MODES, runtimeDriver, type ModeName } from '../lab/modes.ts';
import { pairOf, type Pair } from '../lab/pairs.ts';
import { fixedLengthWorkload, problemWorkload, type Workload } from '../lab/workload.ts';
import { Cell, thresholdSpecs } from './cell.ts';
import { answersOf, compareWithReference, referenceAnswers } from './identity.ts';
import { curvesOf, machineFacts, type AblationReport, type ReportRow } from './report.ts';
import type { AblationSettings } from './settings.ts';
import { cellTable, identityLine } from './table.ts';

const PROMPT_TOKENS = 64;
const DUMMY_VOCAB = 49_152;
const WARM_UP_SECONDS = 0.3;
const MAX_FILL_SECONDS = 240;
/** Tokens of each answer of the dummy pair that are compared: its sequential loop is slow. */
const IDENTITY_TOKENS = 32;
const IDENTITY_LIMIT_SECONDS = 240;

export const METHOD = [
  'Every mode runs over the same loaded engines; in a setting all modes are alive at once and take turns of a few seconds, in rounds of alternating order, so that drift of the machine hits all alike. A mode whose turn is over takes no step and its clock stands still.',
  'Closed loop: the given number of requests is alive, an ended one is replaced at once. Modes that run one model at a time (sequential, lockstep, small-only, large-only) have engines with all cores; modes that run both at the same time have one core per model.',
  'Answers of a fixed length: the first requests start with a part of their answer as prompt, ages spread evenly, as in a loop that has run for long; nothing is generated from scratch only to reach a context length.',
  'sequential serves one request at a time; its row does not depend on the number of users, and its per-user speed is that of the request that is served. Its windows last until 8 tokens have come, 8 turns long at most.',
  'TTFT counts requests that started while the mode was measured; ITL counts gaps between the tokens as the client sees them.',
  'threshold: the best thresholds that the throughput model predicts from step times, overlap factor and routing measured in an eager turn before.',
];

const isAlone = (mode: ModeName): boolean => mode === 'small-only' || mode === 'large-only';

/** Settings of one pair: answer lengths with the concurrencies measured at each. */
function workloadsOf(
  pair: Pair,
  settings: AblationSettings,
): { workload: Workload; outputTokens: number | null; levels: number[] }[] {
  if (pair.name === 'embedded')
    return [
      { workload: problemWorkload(pair.models[0].dir), outputTokens: null, levels: settings.concurrency },
    ];
  return settings.outputTokens.map((outputTokens, i) => ({
    workload: fixedLengthWorkload({ promptTokens: PROMPT_TOKENS, outputTokens, vocabSize: DUMMY_VOCAB }),
    outputTokens,
    levels: i === 0 ? settings.concurrency : settings.longConcurrency,
  }));
}

async function checkIdentity(
  lab: Lab,
  workload: Workload,
  settings: AblationSettings,
  log: (line: string) => void,
): Promise<AblationReport['identity']> {
  const requests = Array.from({ length: settings.identity }, (_, id) => {
    const request = workload.next(id);
    return lab.pair.hasRandomWeights ? { ...request, maxTokens: IDENTITY_TOKENS } : request;
  });
  const references = await referenceAnswers(lab, requests, IDENTITY_LIMIT_SECONDS);
  const results: AblationReport['identity'] = [];
  for (const mode of settings.modes) {
    if (mode === 'sequential' || isAlone(mode)) continue;
    const bench = lab.bench();
    bench.gate.open();
    const specs = {
      eager: [],
      threshold: thresholdSpecs([1, 3]),
      default: [{ kind: 'auto' as const }, { kind: 'auto' as const }],
    };
    const driver = RUNTIME_MODES.includes(mode)
      ? runtimeDriver(lab, bench, mode, policiesOf(specs[mode as keyof typeof specs]))
      : await baselineDriver(lab, bench, mode);
    try {
      const answers = await answersOf(driver, requests, IDENTITY_LIMIT_SECONDS);
      const result = compareWithReference(answers, references);
      results.push({ pair: lab.pair.name, mode, ...result });
      log(identityLine(mode, result));
    } finally {
      await driver.close();
    }
  }
  return results;
}

async function measurePair(
  lab: Lab,
  settings: AblationSettings,
  report: AblationReport,
  log: (line: string) => void,
): Promise<void> {
  const { pair } = lab;
  const settingsOf = workloadsOf(pair, settings);
  const [first] = settingsOf;
  if (first && settings.identity > 0) {
    log('\n  token by token, all requests at once:');
    report.identity.push(...(await checkIdentity(lab, first.workload, settings, log)));
  }
  for (const { workload, outputTokens, levels } of settingsOf) {
    for (const concurrency of levels) {
      log(`\n  ${concurrency} requests alive; ${workload.description}`);
      const cell = new Cell({
        lab,
        workload,
        concurrency,
        modes: settings.modes,
        rounds: settings.rounds,
        seconds: settings.seconds,
        warmUpSeconds: WARM_UP_SECONDS,
        settleSeconds: settings.settleSeconds,
        maxFillSeconds: MAX_FILL_SECONDS,
        log,
      });
      const rows = await cell.measure();
      const { name, hasRandomWeights } = pair;
      report.rows.push(
        ...rows.map((row): ReportRow => ({
          ...row,
          pair: name,
          hasRandomWeights,
          concurrency,
          outputTokens,
        })),
      );
      log(cellTable(rows));
    }
  }
}

/** The whole ablation. `log` gets the lines for people as they come. */
export async function runAblation(
  settings: AblationSettings,
  log: (line: string) => void,
): Promise<AblationReport> {
  const startedMs = performance.now();
  const report: AblationReport = {
    machine: machineFacts(settings.broker),
    method: METHOD,
    pairs: [],
    rows: [],
    identity: [],
    curves: { restart: [], speed: [] },
    seconds: 0,
  };
  for (const name of settings.pairs) {
    const pair = pairOf(name, settings);
    const longest = Math.max(...workloadsOf(pair, settings).map(({ workload }) => workload.maxLenTokens));
    const lab = await Lab.open({
      pair,
      maxNumSeqs: Math.max(...settings.concurrency, ...settings.longConcurrency),
      maxModelLenTokens: longest,
      numCores: availableParallelism(),
      broker: settings.broker,
      logger: silentLogger,
    });
    try {
      const { label, hasRandomWeights } = pair;
      report.pairs.push({ pair: name, label, hasRandomWeights, engines: lab.engineNotes });
      log(`\n${label}`);
      for (const note of lab.engineNotes) log(`  ${note}`);
      await measurePair(lab, settings, report, log);
    } finally {
      await lab.close();
    }
  }
  report.curves = curvesOf(report.rows);
  report.seconds = (performance.now() - startedMs) / 1000;
  return report;
}
