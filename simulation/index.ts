export { SimulatedNetwork, type NetworkOptions } from './network.ts';
export { simulate, Simulation, type SimulationOptions, type SimulationResult } from './simulate.ts';
export { SimulatedBus } from './simulated-bus.ts';
export {
  SimulatedSystem,
  type SimulatedModel,
  type SimulatedReplica,
  type SimulatedSystemOptions,
} from './simulated-system.ts';
export type { StepRecord } from './step-recorder.ts';
export { settle, VirtualClock } from './virtual-clock.ts';
