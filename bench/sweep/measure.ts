import { calibrationRun, defaultLane, switchableLane, thresholdSpecs } from '../ablation/cell.ts';
import { predictThresholds } from '../ablation/thresholds.ts';
import { calibrate } from '../lab/calibration.ts';
import type { Lab } from '../lab/lab.ts';
import type { Lane, TurnOptions } from '../lab/lane.ts';
import { emptyRun } from '../lab/mode-run.ts';
import type { Workload } from '../lab/workload.ts';
import { candidatesOf } from './candidates.ts';
import { Entrant, runRound } from './entrant.ts';
import { FollowedTally, type Followed } from './followed.ts';
import { finalistsOf, verdictOf, type Verdict } from './verdict.ts';

export interface SweepOptions {
  lab: Lab;
  workload: Workload;
  concurrency: number;
  turn: TurnOptions;
  /** Rounds over all candidates. */
  rounds: number;
  /** Further rounds over the best few and the default, which choose the best two. */
  finalRounds: number;
  /** Further rounds over the best two and the default, on which the verdict rests: so many at least (2 or more), … */
  verdictRounds: number;
  /** … and more until the standard error of the share is no larger than this, … */
  verdictError: number;
  /** … but no more than these. */
  maxVerdictRounds: number;
  /** Time that the default gets to find its plan before it is measured. */
  settleSeconds: number;
  log: (line: string) => void;
}

export interface SweepResult extends Verdict {
  concurrency: number;
  /** What the default followed in the rounds that judge, trials included, and in what share of the time; most first. */
  followed: Followed[];
  /** What the throughput model predicts from a calibration. */
  predicted: { thresholds: readonly number[]; tokensPerSecond: number } | null;
  failures: string[];
}

const NUM_FINALISTS = 4;
/** Beside the default: turns are few, and the second best by them may be the best. */
const NUM_JUDGED = 2;

/** Thresholds measured one by one in interleaved turns of one running system, beside the runtime as it schedules itself. */
export async function sweepOf(options: SweepOptions): Promise<SweepResult> {
  const { lab, workload, concurrency, turn, settleSeconds, log } = options;
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
    const followed = new FollowedTally(auto.follows);
    const entrants = [
      new Entrant(null, auto.lane, () => {}, followed),
      ...candidatesOf(concurrency).map(
        (thresholds) => new Entrant(thresholds, lane, () => use(thresholdSpecs(thresholds))),
      ),
    ];
    await runStages(entrants, options);
    const failures = [...lane.loop.failures, ...auto.lane.loop.failures];
    return { concurrency, ...verdictOf(entrants), predicted, followed: followed.shares(), failures };
  } finally {
    for (const lane of lanes) await lane.close();
  }
}

async function runStages(entrants: readonly Entrant[], options: SweepOptions): Promise<void> {
  const { rounds, finalRounds, turn } = options;
  for (let round = 0; round < rounds; round += 1) await runRound(entrants, round, 'first', turn);
  const finalists = finalistsOf(entrants, NUM_FINALISTS);
  for (let round = 0; round < finalRounds; round += 1) await runRound(finalists, round, 'selection', turn);
  const judged = finalistsOf(entrants, NUM_JUDGED, finalists);
  for (let round = 0; !isJudged(entrants, round, options); round += 1)
    await runRound(judged, round, 'verdict', turn);
}

/** Whether the verdict is certain enough. How the error falls does not depend on who is ahead, so stopping by it bends nothing. */
function isJudged(entrants: readonly Entrant[], rounds: number, options: SweepOptions): boolean {
  const { verdictRounds, verdictError, maxVerdictRounds } = options;
  if (rounds < verdictRounds) return false;
  return rounds >= maxVerdictRounds || verdictOf(entrants).shareStandardError <= verdictError;
}
