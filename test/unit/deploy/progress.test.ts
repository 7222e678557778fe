import { expect, it } from 'vitest';
import { progressReporter } from '../../../deploy/simulate/progress.ts';

it('a long run says how far it is, every ten seconds; a short one nothing', () => {
  let nowMs = 5;
  const lines: string[] = [];
  const report = progressReporter(
    () => nowMs,
    (line) => lines.push(line),
  );
  for (let second = 1; second <= 25; second += 1) {
    nowMs = 5 + second * 1000;
    report(second * 100);
  }
  expect(lines).toEqual(['simulate: 1000 tokens after 10 s\n', 'simulate: 2000 tokens after 20 s\n']);
});
