/** Bucket bounds of vLLM's histograms, so that its dashboards fit; seconds, or tokens. */

export const TIME_TO_FIRST_TOKEN_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
  2560,
];

/** With four finer bounds below vLLM's first: small models write faster than 100 tokens/s. */
export const INTER_TOKEN_SECONDS = [
  0.001, 0.002, 0.004, 0.006, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5,
  10, 20, 40, 80,
];

export const REQUEST_SECONDS = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
];

/** 1, 2, 5, 10, 20, 50 … 100,000. */
export const TOKENS = Array.from(
  { length: 16 },
  (_, step) => [1, 2, 5][step % 3]! * 10 ** Math.floor(step / 3),
);
