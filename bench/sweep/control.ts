import { linearFit } from '../../simulation/linear-fit.ts';

/** What one turn of an entrant was, beyond its speed. */
export interface TurnRecord {
  tokens: number;
  /** Tokens by the guest. */
  guestTokens: number;
  /** Tokens fed into steps of the home and of the guest, prompts included. */
  fedTokens: readonly [number, number];
  seconds: number;
}

/** What luck decides of a turn and no policy in the long run: see {@link adjustedLogRates}. */
const luckOf = ({ tokens, guestTokens, fedTokens }: TurnRecord): number[] => {
  const least = Math.max(1, tokens);
  return [guestTokens / least, fedTokens[0] / least, fedTokens[1] / least];
};

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The logarithm of each turn's tokens per second, freed of the luck of its requests (control variates).
 *
 * Which model writes a token is the same under every policy, and each token is fed to a model once: so the guest's share of
 * the tokens, and the tokens fed per token committed, have the same means for all entrants. In a turn of seconds they scatter,
 * by 10 % and more, and the rate with them. Their effect is estimated by least squares from the differences between turns
 * of one and the same entrant, pooled over all, and taken out at the mean over all turns. An entrant's own mean never
 * enters the estimate, so it is not bent towards any of them.
 *
 * @param entrants turns of each entrant, at least one each
 * @returns in the same shape
 */
export function adjustedLogRates(entrants: readonly (readonly TurnRecord[])[]): number[][] {
  const rates = entrants.map((turns) =>
    turns.map(({ tokens, seconds }) => Math.log(Math.max(1, tokens) / seconds)),
  );
  const luck = entrants.map((turns) => turns.map(luckOf));
  const numColumns = luck[0]?.[0]?.length ?? 0;
  const columns = Array.from({ length: numColumns }, (_, k) =>
    luck.map((turns) => turns.map((x) => x[k] ?? 0)),
  );
  const { slopes } = linearFit(centred(rates), columns.map(centred));
  const overall = columns.map((column) => mean(column.flat()));
  return rates.map((turns, i) =>
    turns.map((rate, j) =>
      slopes.reduce((sum, slope, k) => sum - slope * ((luck[i]?.[j]?.[k] ?? 0) - (overall[k] ?? 0)), rate),
    ),
  );
}

/** All values in a row, each less the mean of its group. */
function centred(groups: readonly (readonly number[])[]): number[] {
  return groups.flatMap((group) => {
    const average = mean(group);
    return group.map((value) => value - average);
  });
}
