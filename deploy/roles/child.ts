import { SystemClock } from '../../core/system-clock.ts';
import { toTokenrailError } from '../../core/errors.ts';
import type { TokenrailError } from '../../core/errors.ts';
import { createLogger } from '../log.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import type { ChildMessage, ParentMessage, RoleSpec } from './ipc.ts';
import type { RunningRole } from './role.ts';

/** A role that does not end by itself within this time is killed. */
const STOP_LIMIT_MS = 2000;

/** Each role's code is loaded only where it runs: a gateway needs no engine, a broker neither. */
async function startRole(
  spec: RoleSpec,
  resolved: ResolvedConfig,
  onFailure: (error: TokenrailError) => void,
): Promise<RunningRole<unknown>> {
  const clock = new SystemClock();
  const name = spec.role === 'subserver' ? spec.modelName : spec.role;
  const logger = createLogger(resolved.config, { name });
  if (spec.role === 'broker') {
    return (await import('./broker.ts')).startBrokerRole({ resolved, clock, logger, onFailure });
  }
  const context = { resolved, natsUrl: spec.natsUrl, natsToken: resolved.config.natsToken, clock, logger };
  if (spec.role === 'gateway') return (await import('./gateway.ts')).startGatewayRole(context);
  const { modelName, maskIdsFrom } = spec;
  return (await import('./subserver.ts')).startSubserverRole({ ...context, modelName, maskIdsFrom });
}

function send(message: ChildMessage): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}

/** The life of one supervised process: run, perhaps drain, end. */
class ChildProcess {
  private starting: Promise<RunningRole<unknown> | undefined> = Promise.resolve(undefined);
  private role: RunningRole<unknown> | undefined;
  private isEnding = false;

  run(spec: RoleSpec, resolved: ResolvedConfig): void {
    process.title = `tokenrail ${spec.role === 'subserver' ? spec.modelName : spec.role}`; // what `ps` shows
    const fail = async (thrown: unknown): Promise<undefined> => {
      const { code, message } = toTokenrailError(thrown);
      await send({ kind: 'failed', code, message });
      process.exit(1);
    };
    this.starting = startRole(spec, resolved, (error) => void fail(error)).then(async (role) => {
      this.role = role;
      await send({ kind: 'ready', info: role.info });
      return role;
    }, fail);
  }

  async drain(timeoutMs: number): Promise<void> {
    // What is still loading has nothing to finish.
    await this.role?.drain(timeoutMs);
    await this.stop();
  }

  /**
   * Ends the role, then the process. `process.exit` during an engine's step would abort the process, hence
   * the order; a role that hangs is killed, which is safe at any time.
   */
  async stop(): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_LIMIT_MS).unref();
    const role = await this.starting;
    await role?.stop().catch(() => {});
    process.exit(0);
  }
}

/** Obeys the supervisor, and ends with it. */
export function runChild(): void {
  const child = new ChildProcess();
  const failed = (thrown: unknown): void => {
    process.stderr.write(`${toTokenrailError(thrown).stack ?? 'unknown error'}\n`);
    process.kill(process.pid, 'SIGKILL');
  };
  process.on('message', (message: ParentMessage) => {
    if (message.kind === 'run') child.run(message.spec, message.resolved);
    else if (message.kind === 'drain') child.drain(message.timeoutMs).catch(failed);
    else child.stop().catch(failed);
  });
  process.on('disconnect', () => void child.stop().catch(failed));
  // Ctrl-C reaches every process of the terminal; what happens then is the supervisor's decision.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => void send({ kind: 'sigterm' }));
}
