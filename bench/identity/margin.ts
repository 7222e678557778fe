/** Decisions nearer than this to falling the other way may differ: rounding of another batch shape decides them. */
export const MARGIN = 1e-4;
