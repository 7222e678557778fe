import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { TokenrailError } from '../../core/errors.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import type { ChildMessage, ParentMessage, RoleSpec } from '../roles/ipc.ts';
import { deferred } from './deferred.ts';

const CHILD = fileURLToPath(new URL('../roles/child.mjs', import.meta.url));
/** Beyond what it was asked to take, a process gets this long before it is killed. */
const KILL_AFTER_MS = 2500;

/** How a process ended. */
export interface RoleExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** What the process said about it. */
  failure?: TokenrailError;
}

/** An exit in words. */
export function describeExit({ code, signal, failure }: RoleExit): string {
  if (failure !== undefined) return `${failure.code}: ${failure.message}`;
  return signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
}

/** A role in a process of its own, which ends when this process does. */
export class ForkedRole<Info> {
  /** Rejects with the process's own error, or `illegal_state` if it ended without one. */
  readonly ready: Promise<Info>;
  readonly exited: Promise<RoleExit>;
  /** Called when somebody sends SIGTERM to this process alone. */
  onSigterm: () => void = () => {};
  private readonly process: ChildProcess;
  private hasExited = false;

  /** Starts the process; the role waits for {@link run}. */
  constructor() {
    // The child inherits standard error for its log; standard output belongs to this process's command.
    // Detached: Ctrl-C in a terminal goes to this process alone, which then ends the others in order.
    this.process = fork(CHILD, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], detached: true });
    let failure: TokenrailError | undefined;
    const ready = deferred<Info>();
    this.process.on('message', (message: ChildMessage) => {
      if (message.kind === 'ready') ready.resolve(message.info as Info);
      else if (message.kind === 'failed') failure = new TokenrailError(message.code, message.message);
      else this.onSigterm();
    });
    this.exited = new Promise((resolve) => {
      const onEnd = (code: number | null, signal: NodeJS.Signals | null): void => {
        this.hasExited = true;
        const exit = { code, signal, ...(failure === undefined ? {} : { failure }) };
        ready.reject(
          failure ?? new TokenrailError('illegal_state', `the process ended (${describeExit(exit)})`),
        );
        resolve(exit);
      };
      this.process.once('exit', onEnd);
      this.process.once('error', () => onEnd(null, null)); // could not be started at all
    });
    this.ready = ready.promise;
    this.ready.catch(() => {}); // whoever does not ask for it shall not fail because of it
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  run(spec: RoleSpec, resolved: ResolvedConfig): void {
    this.send({ kind: 'run', spec, resolved });
  }

  /** Resolves when the process is gone. */
  async drain(timeoutMs: number): Promise<void> {
    this.send({ kind: 'drain', timeoutMs });
    await this.goneWithin(timeoutMs + KILL_AFTER_MS / 2);
  }

  /** Ends the process now; resolves when it is gone. */
  async stop(): Promise<void> {
    this.send({ kind: 'stop' });
    await this.goneWithin(KILL_AFTER_MS);
  }

  private async goneWithin(limitMs: number): Promise<void> {
    const timer = setTimeout(() => this.process.kill('SIGKILL'), limitMs);
    await this.exited;
    clearTimeout(timer);
  }

  private send(message: ParentMessage): void {
    if (!this.hasExited && this.process.connected) this.process.send(message, () => {});
  }
}
