import { SupervisedChild } from '../../actors/supervisor.ts';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import type { RoleSpec } from '../roles/ipc.ts';
import { deferred } from './deferred.ts';
import { describeExit, ForkedRole } from './forked-role.ts';
import type { RoleExit } from './forked-role.ts';

/** Time in which the supervisor hears of a signal that was meant for the whole deployment. */
const SIGTERM_GRACE_MS = 300;

export interface RestartingRoleDeps {
  clock: Clock;
  logger: Logger;
  resolved: ResolvedConfig;
}

/** A forked role that is started again whenever it ends. */
export class RestartingRole<Info> {
  readonly name: string;
  /** Resolves when a run becomes ready for the first time. */
  readonly firstReady: Promise<Info>;
  private readonly resolveFirstReady: (info: Info) => void;
  /** What the next run is told. */
  resolved: ResolvedConfig;
  private readonly spec: RoleSpec;
  private readonly deps: RestartingRoleDeps;
  private readonly child: SupervisedChild;
  private prepared: ForkedRole<Info> | undefined;
  private current: ForkedRole<Info> | undefined;
  private latest: Info | undefined;
  private isStopping = false;
  private readonly onExit: (exit: RoleExit) => void;

  /** `prepared` is a process that waits already: the first run uses it. `onExit` hears of every end. */
  constructor(
    name: string,
    spec: RoleSpec,
    deps: RestartingRoleDeps & { prepared?: ForkedRole<Info>; onExit?: (exit: RoleExit) => void },
  ) {
    this.name = name;
    const { promise, resolve } = deferred<Info>();
    this.firstReady = promise;
    this.resolveFirstReady = resolve;
    this.spec = spec;
    this.deps = deps;
    this.resolved = deps.resolved;
    this.prepared = deps.prepared;
    this.onExit = deps.onExit ?? (() => {});
    const firstDelayMs = deps.resolved.config.advanced.restartDelayMs;
    this.child = new SupervisedChild({ name, firstDelayMs, spawn: (onEnd) => this.spawn(onEnd) }, deps);
  }

  /** What the role told when it became ready; undefined before and between runs. */
  get info(): Info | undefined {
    return this.latest;
  }

  /** Starts it; resolves or rejects with its first run. */
  start(): Promise<Info> {
    this.child.start();
    return this.current?.ready ?? Promise.reject(new Error(`${this.name} did not start`));
  }

  /** No further runs. */
  giveUp(): void {
    this.isStopping = true;
    this.child.stop();
  }

  async drain(timeoutMs: number): Promise<void> {
    this.giveUp();
    await this.current?.drain(timeoutMs);
  }

  async stop(): Promise<void> {
    this.giveUp();
    await this.current?.stop();
  }

  private spawn(onEnd: (exit: { reason: string }) => void): void {
    const role: ForkedRole<Info> = this.prepared ?? new ForkedRole<Info>();
    this.prepared = undefined;
    this.current = role;
    role.onSigterm = () => this.drainAlone(role);
    role.ready.then(
      (info) => {
        this.latest = info;
        this.resolveFirstReady(info);
      },
      () => {},
    );
    void role.exited.then((exit) => {
      this.latest = undefined;
      this.onExit(exit);
      onEnd({ reason: describeExit(exit) });
    });
    role.run(this.spec, this.resolved);
  }

  /** SIGTERM for this process alone: it drains and is started afresh. Meant for all, the supervisor hears of it too. */
  private drainAlone(role: ForkedRole<Info>): void {
    this.deps.clock.setTimer(SIGTERM_GRACE_MS, () => {
      if (!this.isStopping) void role.drain(this.resolved.config.shutdownTimeout * 1000);
    });
  }
}
