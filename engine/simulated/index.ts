export { AlarmClock, type Alarm, type AlarmClockOptions } from './alarm-clock.ts';
export { createSimulatedEngine, SimulatedEngine, type SimulatedEngineDeps } from './simulated-engine.ts';
export { SimulatedDevice, type DeviceOptions } from './simulated-device.ts';
export type { SimulatedEngineOptions } from './options.ts';
export { meanStepMs, stepDurationMs, type StepTimeModel } from './step-time.ts';
export { routingSignals, RUN_LENGTH_LAWS, type RoutingLaw, type RunLengthLaw } from './routing-law.ts';
export { extendHash, hashOf } from './sequence-hash.ts';
export { TokenChoice } from './token-choice.ts';
