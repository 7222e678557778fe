import type { BrokerInfo } from '../roles/broker.ts';
import type { SubserverInfo } from '../roles/subserver.ts';

/** A deployment that runs: gateway, subservers, and a broker unless one was given. */
export interface Launched {
  /** Base URL of the HTTP server. */
  url: string;
  broker: BrokerInfo;
  /** What the subservers have told so far, one per replica that has loaded its model. */
  subservers(): readonly SubserverInfo[];
  /** Resolves with true once requests can be answered, with false if the deployment ends before. */
  ready: Promise<boolean>;
  /** Resolves when the deployment has ended, with the error if it was not asked to. */
  ended: Promise<Error | undefined>;
  /** Gateway first, then subservers, then the broker; running requests get `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
  /** Everything ends now. Idempotent, also during a drain. */
  stop(): Promise<void>;
}
