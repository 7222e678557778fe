export { startGateway, type Gateway } from './gateway.ts';
export type { DefaultSampling, GatewayDeps, GatewayOptions } from './options.ts';
export type { Readiness } from './readiness.ts';
