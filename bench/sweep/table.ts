import { alignedTable } from '../ablation/table.ts';
import { brief } from '../plot/scale.ts';
import type { SweepResult } from './measure.ts';

/** One number of requests alive, for people. */
export function sweepTable(result: SweepResult): string {
  const { points, share, shareStandardError, best, predicted, followed } = result;
  const { bestTokensPerSecond, autoTokensPerSecond } = result;
  const cells = points.map((point) => [
    point.thresholds?.join(',') ?? 'default',
    brief(point.tokensPerSecond),
    `± ${brief(point.standardError)}`,
    point.isFinalist ? '*' : '',
    point.verdictTokensPerSecond === null ? '' : brief(point.verdictTokensPerSecond),
  ]);
  const lines = [alignedTable([['thresholds', 'tok/s', 's.e.', 'final', 'verdict'], ...cells], '    ')];
  if (predicted)
    lines.push(
      `    predicted: ${predicted.thresholds.join(',')} with ${brief(predicted.tokensPerSecond)} tok/s`,
    );
  const parts = followed.map((one) => `${one.policies} ${(100 * one.share).toFixed(0)} %`);
  lines.push(`    default followed: ${parts.join(', ')}`);
  lines.push(
    `    default ${brief(autoTokensPerSecond)} ÷ best ${best.join(',')} ${brief(bestTokensPerSecond)} = ${(100 * share).toFixed(1)} ± ${(100 * shareStandardError).toFixed(1)} %`,
  );
  for (const failure of result.failures.slice(0, 3)) lines.push(`    FAILED: ${failure}`);
  return lines.join('\n');
}
