/** A share of 1 in percent, one digit. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** A difference of shares in points, with its sign. */
export const points = (difference: number): string =>
  `${difference < 0 ? '−' : '+'}${(100 * Math.abs(difference)).toFixed(1)}`;

/** Parameters in millions. */
export const millions = (parameters: number): string => `${(parameters / 1e6).toFixed(2)} M`;
