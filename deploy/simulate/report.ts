import type { SimulationResult } from '../../simulation/index.ts';

/** The answer of `tokenrail simulate --json`. Times in the units of their names; rates per second. */
export interface SimulateReport {
  /** Always true: nothing of this was measured on a real model. */
  simulated: true;
  tokensPerSecond: number;
  /** Half the width of the 95 % interval; null for a drain, which is one run. */
  ci95: number | null;
  policy: string;
  thresholds: number[] | null;
  meanRows: number[];
  admissionDelayMs: number[];
  utilisation: number[];
  tokens: number;
  virtualSeconds: number;
  wallSeconds: number;
  mismatches: number;
  seed: number;
  /** Tokens over time without the correction for the luck of the routing draws. */
  uncontrolled: { tokensPerSecond: number; ci95: number | null };
}

const round = (value: number): number => Math.round(value * 1e6) / 1e6;
const orNull = (value: number): number | null => (Number.isNaN(value) ? null : round(value));

export function makeReport(
  result: SimulationResult,
  facts: { policy: string; thresholds: number[] | null; wallSeconds: number },
): SimulateReport {
  const { uncontrolled } = result;
  return {
    simulated: true,
    tokensPerSecond: round(result.tokensPerSecond),
    ci95: orNull(result.ci95),
    policy: facts.policy,
    thresholds: facts.thresholds,
    meanRows: result.meanRows.map(round),
    admissionDelayMs: result.admissionDelayMs.map(round),
    utilisation: result.utilisation.map(round),
    tokens: result.tokens,
    virtualSeconds: round(result.virtualSeconds),
    wallSeconds: Math.round(facts.wallSeconds * 1000) / 1000,
    mismatches: result.mismatches,
    seed: result.seed,
    uncontrolled: { tokensPerSecond: round(uncontrolled.tokensPerSecond), ci95: orNull(uncontrolled.ci95) },
  };
}

/** The same for people. */
export function reportText(report: SimulateReport): string {
  const { ci95, thresholds } = report;
  const name = thresholds === null ? report.policy : `${report.policy} ${thresholds.join(',')}`;
  const spread = ci95 === null ? '' : ` ± ${ci95.toFixed(2)}`;
  const model = (i: number): string =>
    `  model ${i + 1}: ${(report.meanRows[i] ?? 0).toFixed(2)} rows per step, ` +
    `${(report.admissionDelayMs[i] ?? 0).toFixed(2)} ms from ready to start, ` +
    `busy ${(100 * (report.utilisation[i] ?? 0)).toFixed(1)} % of the time`;
  return [
    `simulated: ${report.tokensPerSecond.toFixed(2)}${spread} tokens/s with policy ${name}`,
    ...report.meanRows.map((_, i) => model(i)),
    `  ${report.tokens} tokens in ${report.virtualSeconds.toFixed(2)} s of virtual time ` +
      `(${report.wallSeconds.toFixed(1)} s here), seed ${report.seed}`,
    report.mismatches === 0
      ? '  every token equals the plain sequential loop'
      : `  ${report.mismatches} TOKENS DIFFER from the plain sequential loop`,
    '',
  ].join('\n');
}
