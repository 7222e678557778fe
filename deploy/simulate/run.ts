import { createPolicy } from '../../scheduling/index.ts';
import { Simulation, type SimulationOptions, type StepRecord } from '../../simulation/index.ts';
import type { SimulatePlan } from './options.ts';
import { makeReport, type SimulateReport } from './report.ts';

/** Runs what `tokenrail simulate` was asked for. @throws TokenrailError of the simulation */
export async function runSimulate(
  plan: SimulatePlan,
  watch: { onStep?: (record: StepRecord) => void; onProgress?: (tokens: number) => void } = {},
): Promise<SimulateReport> {
  const { policy, thresholds } = plan;
  const models = plan.options.models.map((model, i) => ({
    ...model,
    policy: () => createPolicy(plan.policies[i] ?? { kind: 'auto' }),
  }));
  const options: SimulationOptions = { ...plan.options, models, ...watch };
  const beganMs = performance.now();
  const result = await new Simulation(options).run();
  return makeReport(result, { policy, thresholds, wallSeconds: (performance.now() - beganMs) / 1000 });
}
