import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { PeerCommand, PeerReport, RunResult } from './plan.ts';

const isSource = import.meta.url.endsWith('.ts');
const ENTRY = fileURLToPath(new URL(isSource ? './peer-bootstrap.mjs' : './peer.js', import.meta.url));

/** A peer as the orchestrator sees it: one command at a time. */
export class PeerProcess {
  private readonly child: ChildProcess;

  constructor(role: 'driver' | 'echo') {
    this.child = fork(ENTRY, [role], { execArgv: [] });
  }

  /** @throws Error when the peer reports a failure or ends */
  ask(command: PeerCommand): Promise<RunResult | undefined> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null): void => {
        this.child.off('message', onMessage);
        if (command.do === 'quit') resolve(undefined);
        else reject(new Error(`a peer ended with code ${code}`));
      };
      const onMessage = (report: PeerReport): void => {
        if (command.do === 'quit') return;
        this.child.off('exit', onExit);
        this.child.off('message', onMessage);
        if (report.ok) resolve(report.result);
        else reject(new Error(report.message));
      };
      this.child.once('exit', onExit);
      this.child.on('message', onMessage);
      this.child.send(command);
    });
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}
