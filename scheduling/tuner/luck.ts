import { twoSlopes } from '../estimate/two-slopes.ts';

/**
 * What luck decides of a window and no policy in the long run. Which model writes a token, and how many tokens are fed, is the same
 * whatever starts the steps; in a window of few answers both scatter, and the rate with them.
 */
export interface Luck {
  /** Share of the tokens that the home wrote itself. */
  own: number;
  /** Tokens fed to the home, prompts included, per token of an answer. */
  fed: number;
}

export const NO_LUCK: Luck = { own: 0, fed: 0 };

/** Counts that grow, from which the luck of a time follows: all of one and the same home. */
export interface Work {
  answerTokens: number;
  ownTokens: number;
  fedTokens: number;
}

/** Luck between two looks; none where no token came. */
export function luckBetween(before: Work, now: Work): Luck {
  const tokens = now.answerTokens - before.answerTokens;
  if (!(tokens > 0)) return NO_LUCK;
  return {
    own: (now.ownTokens - before.ownTokens) / tokens,
    fed: (now.fedTokens - before.fedTokens) / tokens,
  };
}

/** Windows of which slopes are made, about: contexts grow and loads change. */
const MEMORY = 200;
/**
 * Variance of a window over that of a slope before any was seen: a tenth more tokens by the home may double the rate, a token more to
 * feed may halve it. So a few windows that scatter by other reasons make no slope.
 */
const OWN_RIDGE = 5e-5;
const FED_RIDGE = 5e-3;
/** What is further off than this, in logarithms of the rate, is another load. */
const MOST_DEVIATION = 0.5;

/**
 * How luck moves the rate: control variates, by least squares over differences between windows of one and the same choice. What is
 * known of their effect is taken out of comparisons, which then need a fraction of the windows.
 */
export class LuckControl {
  private ownOwn = OWN_RIDGE;
  private ownFed = 0;
  private fedFed = FED_RIDGE;
  private ownRate = 0;
  private fedRate = 0;

  /** What luck explains of the logarithm of a rate. @param off by how much it is other luck than usual */
  effect(off: Luck): number {
    const { ownOwn, ownFed, fedFed, ownRate, fedRate } = this;
    const [ownSlope, fedSlope] = twoSlopes(ownOwn, ownFed, fedFed, ownRate, fedRate);
    return ownSlope * off.own + fedSlope * off.fed;
  }

  /** @param deviation logarithm of the rate over the usual one */
  observe(deviation: number, off: Luck): void {
    if (!(Math.abs(deviation) <= MOST_DEVIATION)) return;
    const keep = 1 - 1 / MEMORY;
    this.ownOwn = keep * (this.ownOwn - OWN_RIDGE) + off.own ** 2 + OWN_RIDGE;
    this.fedFed = keep * (this.fedFed - FED_RIDGE) + off.fed ** 2 + FED_RIDGE;
    this.ownFed = keep * this.ownFed + off.own * off.fed;
    this.ownRate = keep * this.ownRate + off.own * deviation;
    this.fedRate = keep * this.fedRate + off.fed * deviation;
  }
}
