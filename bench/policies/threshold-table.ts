import type { PolicySpec } from '../../scheduling/index.ts';
import type { Plan } from '../../scheduling/planner/index.ts';

/** B*(alive) of one model (its index) as a policy. The plan must have an entry for each number alive. */
export function thresholdTable(plan: Plan, model: number): PolicySpec {
  const threshold = plan.entries.map(({ candidates }) => {
    const rows = candidates.find(({ name }) => name.startsWith('threshold('))?.policies[model]?.threshold;
    return typeof rows === 'number' ? rows : 1; // thresholds of 1 throughout go by the name of eager
  });
  return { kind: 'threshold', threshold };
}
