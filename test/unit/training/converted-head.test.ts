import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readHeadCase, scoresOf } from '../../helpers/head-scores.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/heads/${name}`, import.meta.url));

it('a converted R2R checkpoint scores in the engine what PyTorch scores, within 1e-4', () => {
  const given = readHeadCase(fixture('converted-r2r.json'));
  const scores = scoresOf(fixture('converted-r2r.safetensors'), given);
  expect(scores).toHaveLength(given.rows.length);
  scores.forEach((score, row) => expect(Math.abs(score - (given.scores[row] ?? NaN))).toBeLessThan(1e-4));
  // Scores that are all alike would prove nothing.
  expect(Math.max(...given.scores) - Math.min(...given.scores)).toBeGreaterThan(0.2);
});
