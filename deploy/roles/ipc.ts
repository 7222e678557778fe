import type { ErrorCode } from '../../core/errors.ts';
import type { ResolvedConfig } from '../config/deployment.ts';

/** Which part of the deployment a child process runs. */
export type RoleSpec =
  | { role: 'broker' }
  | { role: 'gateway'; natsUrl: string }
  | { role: 'subserver'; natsUrl: string; modelName: string; maskIdsFrom?: number };

/**
 * Supervisor → child. The whole configuration travels here and not on the command line: keys and tokens stay
 * out of the process list, and a file that changes meanwhile cannot split a deployment.
 */
export type ParentMessage =
  | { kind: 'run'; spec: RoleSpec; resolved: ResolvedConfig }
  | { kind: 'drain'; timeoutMs: number }
  | { kind: 'stop' };

/** Child → supervisor. `sigterm`: somebody sent the signal to the child alone. */
export type ChildMessage =
  | { kind: 'ready'; info: unknown }
  | { kind: 'failed'; code: ErrorCode; message: string }
  | { kind: 'sigterm' };
