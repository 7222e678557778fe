import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import type { ResolvedConfig } from '../config/deployment.ts';

/** What a role is started with. */
export interface RoleContext {
  resolved: ResolvedConfig;
  natsUrl: string;
  natsToken?: string | undefined;
  clock: Clock;
  logger: Logger;
}

/** A part of the deployment that runs in this process. */
export interface RunningRole<Info> {
  info: Info;
  /** Takes nothing new, finishes what runs within `timeoutMs`, then ends. Resolves when it is over. */
  drain(timeoutMs: number): Promise<void>;
  /** Ends now. Idempotent, also during a drain. */
  stop(): Promise<void>;
}
