import { calibrationRun, defaultLane, switchableLane, thresholdSpecs } from '../ablation/cell.ts';
import { predictThresholds } from '../ablation/thresholds.ts';
import { calibrate } from '../lab/calibration.ts';
import type { Lab } from '../lab/lab.ts';
import type { Lane, TurnOptions } from '../lab/lane.ts';
import { emptyRun, type ModeRun } from '../lab/mode-run.ts';
import type { Workload } from '../lab/workload.ts';
import { candidatesOf, type Thresholds } from './candidates.ts';

export interface SweepOptions {
  lab: Lab;
  workload: Workload;
  concurrency: number;
  turn: TurnOptions;
  /** Rounds over all candidates. */
  rounds: number;
  /** Further rounds over the best few and the default, on which the verdict rests. */
  finalRounds: number;
  /** Time that the default gets to find its plan before it is measured. */
  settleSeconds: number;
  log: (line: string) => void;
}

export interface SweepPoint {
  /** null: what the runtime chooses by itself. */
  thresholds: Thresholds | null;
  tokensPerSecond: number;
  /** Standard error over the turns. */
  standardError: number;
  turns: number;
  isFinalist: boolean;
  /** Of turns in the final rounds alone; null for those that are not in them. */
  finalTokensPerSecond: number | null;
}

export interface SweepResult {
  concurrency: number;
  points: SweepPoint[];
  /** Best thresholds as measured in the final rounds. */
  best: Thresholds;
  bestTokensPerSecond: number;
  /** What the runtime reached by itself in the same rounds, and its share of the best. */
  autoTokensPerSecond: number;
  share: number;
  /** What it said it followed at the end, home first. */
  autoChose: string[];
  /** What the throughput model predicts from a calibration. */
  predicted: { thresholds: readonly number[]; tokensPerSecond: number } | null;
  failures: string[];
}

interface Entrant {
  thresholds: Thresholds | null;
  lane: Lane;
  run: ModeRun;
  final: ModeRun;
  activate: () => void;
}

const NUM_FINALISTS = 4;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function standardError(values: readonly number[]): number {
  const average = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1);
  return Math.sqrt(variance / values.length);
}

const rateOf = ({ stats }: ModeRun): number => stats.tokens / stats.seconds;

/** Each entrant once; the order turns round with every second round and starts elsewhere each time. */
async function runRound(
  entrants: readonly Entrant[],
  round: number,
  turn: TurnOptions,
  pick: (entrant: Entrant) => ModeRun,
): Promise<void> {
  const start = (round * 7) % entrants.length;
  const rotated = [...entrants.slice(start), ...entrants.slice(0, start)];
  for (const entrant of round % 2 === 0 ? rotated : rotated.reverse()) {
    entrant.activate();
    await entrant.lane.turn(pick(entrant), turn);
  }
}

function pointOf({ thresholds, run, final }: Entrant): SweepPoint {
  const isFinalist = final.rates.length > 0;
  return {
    thresholds,
    tokensPerSecond: rateOf(run),
    standardError: standardError(run.rates),
    turns: run.rates.length,
    isFinalist,
    finalTokensPerSecond: isFinalist ? rateOf(final) : null,
  };
}

/** Thresholds measured one by one in interleaved turns of one running system, beside the runtime as it schedules itself. */
export async function sweepOf(options: SweepOptions): Promise<SweepResult> {
  const { lab, workload, concurrency, turn, rounds, finalRounds, settleSeconds, log } = options;
  const lanes: Lane[] = [];
  const fill = async (lane: Lane): Promise<Lane> => {
    lanes.push(lane);
    if (!(await lane.warmUp(true, 240)))
      log('    not every request was past its prompt when measuring began');
    return lane;
  };
  try {
    const { lane, use } = await switchableLane(lab, 'sweep', workload, concurrency);
    await fill(lane);
    const auto = await defaultLane(lab, workload, concurrency);
    await fill(auto.lane);
    const calibration = await calibrationRun(lane, turn);
    const predicted = calibration ? predictThresholds(calibrate(calibration, concurrency)) : null;
    await auto.lane.turn(emptyRun(), { warmUpSeconds: 0, seconds: settleSeconds });
    const entrants: Entrant[] = [
      { thresholds: null, lane: auto.lane, run: emptyRun(), final: emptyRun(), activate: () => {} },
      ...candidatesOf(concurrency).map((thresholds) => ({
        thresholds,
        lane,
        run: emptyRun(),
        final: emptyRun(),
        activate: () => use(thresholdSpecs(thresholds)),
      })),
    ];
    for (let round = 0; round < rounds; round += 1) await runRound(entrants, round, turn, ({ run }) => run);
    const finalists = finalistsOf(entrants);
    for (let round = 0; round < finalRounds; round += 1)
      await runRound(finalists, round, turn, ({ final }) => final);
    const failures = [...lane.loop.failures, ...auto.lane.loop.failures];
    return {
      ...verdict(concurrency, entrants, finalists),
      predicted,
      autoChose: auto.follows(),
      failures,
    };
  } finally {
    for (const lane of lanes) await lane.close();
  }
}

/** The default and the best few. */
function finalistsOf(entrants: readonly Entrant[]): Entrant[] {
  const auto = entrants.filter(({ thresholds }) => thresholds === null);
  const others = entrants.filter(({ thresholds }) => thresholds !== null);
  return [...auto, ...others.sort((a, b) => rateOf(b.run) - rateOf(a.run)).slice(0, NUM_FINALISTS)];
}

function verdict(
  concurrency: number,
  entrants: readonly Entrant[],
  finalists: readonly Entrant[],
): Omit<SweepResult, 'predicted' | 'failures' | 'autoChose'> {
  const [auto, ...others] = finalists;
  const [best] = [...others].sort((a, b) => rateOf(b.final) - rateOf(a.final));
  if (!auto || !best?.thresholds) throw new Error('a sweep needs candidates');
  return {
    concurrency,
    points: entrants.map(pointOf),
    best: best.thresholds,
    bestTokensPerSecond: rateOf(best.final),
    autoTokensPerSecond: rateOf(auto.final),
    share: rateOf(auto.final) / rateOf(best.final),
  };
}
