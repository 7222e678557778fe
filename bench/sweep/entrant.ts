import type { Lane, TurnOptions } from '../lab/lane.ts';
import { emptyRun, type ModeRun } from '../lab/mode-run.ts';
import type { Thresholds } from './candidates.ts';
import type { TurnRecord } from './control.ts';
import type { FollowedTally } from './followed.ts';

/** Rounds over all, over the best few (they choose the best), and over the best and the default (they judge). */
export type Stage = 'first' | 'selection' | 'verdict';

export interface Turn {
  stage: Stage;
  record: TurnRecord;
}

/** Thresholds, or the default, ready for their turns. */
export class Entrant {
  /** null: what the runtime chooses by itself. */
  readonly thresholds: Thresholds | null;
  readonly turns: Turn[] = [];
  private readonly lane: Lane;
  private readonly activate: () => void;
  private readonly followed: FollowedTally | undefined;

  /** @param followed told of the turns that judge */
  constructor(thresholds: Thresholds | null, lane: Lane, activate: () => void, followed?: FollowedTally) {
    this.thresholds = thresholds;
    this.lane = lane;
    this.activate = activate;
    this.followed = followed;
  }

  async turn(stage: Stage, options: TurnOptions): Promise<void> {
    this.activate();
    const run = emptyRun();
    const turn = this.lane.turn(run, options);
    await (stage === 'verdict' && this.followed ? this.followed.during(turn) : turn);
    this.turns.push({ stage, record: recordOf(run) });
  }
}

function recordOf({ stats, steps }: ModeRun): TurnRecord {
  const fed = (model: 0 | 1): number => steps[model].reduce((sum, { tokens }) => sum + tokens, 0);
  const { tokens, guestTokens, seconds } = stats;
  return { tokens, guestTokens, seconds, fedTokens: [fed(0), fed(1)] };
}

/** Each entrant once; the order turns round with every second round and starts elsewhere each time. */
export async function runRound(
  entrants: readonly Entrant[],
  round: number,
  stage: Stage,
  turn: TurnOptions,
): Promise<void> {
  const start = (round * 7) % entrants.length;
  const rotated = [...entrants.slice(start), ...entrants.slice(0, start)];
  for (const entrant of round % 2 === 0 ? rotated : rotated.reverse()) await entrant.turn(stage, turn);
}
