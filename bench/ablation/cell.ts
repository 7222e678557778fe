import { calibrate, decodeSteps } from '../lab/calibration.ts';
import { Lane, type TurnOptions } from '../lab/lane.ts';
import type { Lab } from '../lab/lab.ts';
import { emptyRun, type ModeRun } from '../lab/mode-run.ts';
import { baselineDriver, policiesOf, runtimeDriver, type ModeName } from '../lab/modes.ts';
import { SwitchPolicy } from '../lab/switch-policy.ts';
import { AutoPolicy } from '../../scheduling/index.ts';
import type { Workload } from '../lab/workload.ts';
import { rowOf, withRatios, type AblationRow } from './row.ts';
import { predictThresholds, type Predicted } from './thresholds.ts';

export interface CellOptions {
  lab: Lab;
  workload: Workload;
  concurrency: number;
  modes: readonly ModeName[];
  /** Turns per mode, interleaved. */
  rounds: number;
  /** Measured time of a turn, after its warm-up. */
  seconds: number;
  warmUpSeconds: number;
  /** Time that the default gets to find its plan before it is measured. */
  settleSeconds: number;
  /** Longest time until every request has had its first tokens. */
  maxFillSeconds: number;
  log: (line: string) => void;
}

/** A mode, ready for its turns. */
interface Entrant {
  mode: ModeName;
  lane: Lane;
  run: ModeRun;
  /** Puts the mode's policies in place where several modes share a running system. */
  activate: () => void;
}

/** A threshold policy must not be cut short by the ceiling where a step takes long: the ceiling is not what is measured. */
const MAX_WAIT_MS = 10_000;

/** A sequential loop gives a token every second or two where prompts are long. */
const SEQUENTIAL_MIN_TOKENS = 8;
const SEQUENTIAL_MAX_STRETCH = 8;

export const thresholdSpecs = (thresholds: readonly number[]) =>
  thresholds.map((threshold) => ({ kind: 'threshold' as const, threshold, maxWaitMs: MAX_WAIT_MS }));

/** A system whose policies can be switched between turns. */
export async function switchableLane(
  lab: Lab,
  name: string,
  workload: Workload,
  concurrency: number,
): Promise<{ lane: Lane; use: (specs: Parameters<typeof policiesOf>[0]) => void }> {
  const bench = lab.bench();
  const [home, guest] = policiesOf([]).map((policy) => new SwitchPolicy(policy));
  if (!home || !guest) throw new Error('two policies are needed');
  const driver = runtimeDriver(lab, bench, name, [home, guest]);
  const lane = new Lane({ driver, ...bench }, workload, concurrency);
  lane.counters = () => driver.subservers[0]?.counters.snapshot() ?? {};
  await lane.start();
  const use = (specs: Parameters<typeof policiesOf>[0]): void => {
    [home.current, guest.current] = policiesOf(specs);
  };
  return { lane, use };
}

/** The system as it schedules itself; `follows` names what its models follow at this moment, home first. */
export async function defaultLane(
  lab: Lab,
  workload: Workload,
  concurrency: number,
): Promise<{ lane: Lane; follows: () => string[] }> {
  const bench = lab.bench();
  const policies = policiesOf([{ kind: 'auto' }, { kind: 'auto' }]);
  const driver = runtimeDriver(lab, bench, 'default', policies);
  const lane = new Lane({ driver, ...bench }, workload, concurrency);
  lane.counters = () => driver.subservers[0]?.counters.snapshot() ?? {};
  await lane.start();
  const follows = (): string[] =>
    policies.flatMap((policy) => {
      if (!(policy instanceof AutoPolicy)) return [];
      const { policy: own, reason, step } = policy.stateAt(bench.clock.nowMs(), concurrency);
      return [step ? step.name : `${own} (${reason})`];
    });
  return { lane, follows };
}

/** Steps of each model that a calibration rests on, and the turns that it may take. */
const CALIBRATION_STEPS = 25;
const MAX_CALIBRATION_TURNS = 12;

/** Turns of the lane as it is, until both models have run often enough; undefined where one hardly runs at all. */
export async function calibrationRun(lane: Lane, turn: TurnOptions): Promise<ModeRun | undefined> {
  const run = emptyRun();
  const numSteps = (): number => Math.min(...decodeSteps(run.steps).map((steps) => steps.length));
  for (let i = 0; i < MAX_CALIBRATION_TURNS && numSteps() < CALIBRATION_STEPS; i += 1)
    await lane.turn(run, turn);
  return numSteps() === 0 ? undefined : run;
}

/** One setting: all modes alive at once, measured in interleaved turns. */
export class Cell {
  private readonly options: CellOptions;
  private readonly entrants: Entrant[] = [];
  private readonly lanes: Lane[] = [];
  private predicted: Predicted | undefined;

  constructor(options: CellOptions) {
    this.options = options;
  }

  async measure(): Promise<AblationRow[]> {
    try {
      await this.enter();
      for (let round = 0; round < this.options.rounds; round += 1) {
        // Every other round backwards: nobody always follows the same neighbour.
        const order = round % 2 === 0 ? this.entrants : [...this.entrants].reverse();
        for (const { mode, lane, run, activate } of order) {
          activate();
          await lane.turn(run, this.turn(mode));
        }
      }
      return withRatios(this.entrants.map((entrant) => this.rowOf(entrant)));
    } finally {
      for (const lane of this.lanes) await lane.close();
    }
  }

  private turn(mode: ModeName): TurnOptions {
    const { seconds, warmUpSeconds } = this.options;
    if (mode !== 'sequential') return { seconds, warmUpSeconds };
    return {
      seconds,
      warmUpSeconds,
      minTokens: SEQUENTIAL_MIN_TOKENS,
      maxSeconds: seconds * SEQUENTIAL_MAX_STRETCH,
    };
  }

  private rowOf({ mode, lane, run }: Entrant): AblationRow {
    const row = rowOf(mode, run, lane.loop.failures);
    if (mode !== 'threshold' || !this.predicted) return row;
    const { thresholds, tokensPerSecond } = this.predicted;
    return { ...row, thresholds, predictedTokensPerSecond: tokensPerSecond };
  }

  private async enter(): Promise<void> {
    const { lab, modes, workload, concurrency } = this.options;
    for (const mode of modes) {
      if (mode === 'eager' || mode === 'threshold') continue;
      if (mode === 'default') {
        const { lane } = await defaultLane(lab, workload, concurrency);
        await this.add(mode, lane, true);
        // Time to measure itself and to plan.
        await lane.turn(emptyRun(), { warmUpSeconds: 0, seconds: this.options.settleSeconds });
        continue;
      }
      const bench = lab.bench();
      const driver = await baselineDriver(lab, bench, mode);
      // One request at a time, whatever the number of users: more would only queue.
      const lane = new Lane({ driver, ...bench }, workload, mode === 'sequential' ? 1 : concurrency);
      await lane.start();
      await this.add(mode, lane, mode === 'restart' || mode === 'lockstep');
    }
    if (modes.includes('eager') || modes.includes('threshold')) await this.enterSwitchable();
    this.entrants.sort((a, b) => modes.indexOf(a.mode) - modes.indexOf(b.mode));
  }

  private async enterSwitchable(): Promise<void> {
    const { lab, modes, workload, concurrency, seconds, warmUpSeconds } = this.options;
    const { lane, use } = await switchableLane(lab, 'runtime', workload, concurrency);
    await this.fill('eager and threshold', lane, true);
    if (modes.includes('eager')) this.push('eager', lane, () => use([{ kind: 'eager' }, { kind: 'eager' }]));
    if (!modes.includes('threshold')) return;
    const calibration = await calibrationRun(lane, { seconds, warmUpSeconds });
    if (calibration === undefined) {
      this.options.log('    too few steps of the large model to predict thresholds: 1,1');
      this.push('threshold', lane, () => use(thresholdSpecs([1, 1])));
      return;
    }
    const spec = calibrate(calibration, concurrency);
    const predicted = predictThresholds(spec);
    this.predicted = predicted;
    const [small, large] = spec.stepMs.map((table) => (typeof table === 'number' ? [table] : table));
    const show = (table: readonly number[] | undefined): string =>
      `${table?.[0]?.toFixed(1)} to ${table?.at(-1)?.toFixed(1)} ms`;
    this.options.log(
      `    steps ${show(small)} and ${show(large)}, overlap factor ${spec.overlapFactor?.toFixed(2)}, best thresholds by prediction ${predicted.thresholds.join(',')}`,
    );
    this.push('threshold', lane, () => use(thresholdSpecs(predicted.thresholds)));
  }

  private async add(mode: ModeName, lane: Lane, needsGuest: boolean): Promise<void> {
    if (mode !== 'sequential') await this.fill(mode, lane, needsGuest);
    this.push(mode, lane, () => {});
  }

  private push(mode: ModeName, lane: Lane, activate: () => void): void {
    if (!this.lanes.includes(lane)) this.lanes.push(lane);
    this.entrants.push({ mode, lane, run: emptyRun(), activate });
  }

  private async fill(what: string, lane: Lane, needsGuest: boolean): Promise<void> {
    if (!this.lanes.includes(lane)) this.lanes.push(lane);
    const isWarm = await lane.warmUp(needsGuest, this.options.maxFillSeconds);
    if (!isWarm) this.options.log(`    ${what}: not every request was past its prompt when measuring began`);
  }
}
