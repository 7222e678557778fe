/** What dividing the cores needs to know of a model. */
export interface ThreadDemand {
  /** Fixed number of threads per engine; 0 = share what is left. */
  threads: number;
  numReplicas: number;
  /** Size of the checkpoint: who gets the cores that do not divide evenly. */
  weightBytes: number;
}

/**
 * Threads per engine of each model. The cores that fixed numbers leave are divided evenly among the other
 * engines of the machine, at least one each; the rest goes to the largest models. The sum exceeds the
 * cores only where there are more engines than cores or fixed numbers ask for it.
 */
export function divideThreads(demands: readonly ThreadDemand[], numCores: number): number[] {
  const shared = demands.filter((demand) => demand.threads === 0);
  const numFixed = demands.reduce((sum, demand) => sum + demand.threads * demand.numReplicas, 0);
  const numEngines = shared.reduce((sum, demand) => sum + demand.numReplicas, 0);
  const free = Math.max(numCores - numFixed, numEngines);
  const base = numEngines === 0 ? 0 : Math.floor(free / numEngines);
  let rest = free - base * numEngines;
  const bonus = new Map<ThreadDemand, number>();
  for (const demand of [...shared].sort((a, b) => b.weightBytes - a.weightBytes)) {
    if (rest < demand.numReplicas) continue;
    bonus.set(demand, 1);
    rest -= demand.numReplicas;
  }
  return demands.map((demand) => (demand.threads === 0 ? base + (bonus.get(demand) ?? 0) : demand.threads));
}
