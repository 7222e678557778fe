export { SimulatedNetwork, type NetworkOptions } from './network.ts';
export { SimulatedBus } from './simulated-bus.ts';
export { settle, VirtualClock } from './virtual-clock.ts';
