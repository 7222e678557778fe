import { TokenrailError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Bus } from '../../transport/bus.ts';
import { overloaded } from './admission-gate.ts';
import type { Frontend, Submitted } from './frontend.ts';
import type { GatewaySettings } from './options.ts';
import type { GatewayPhase } from './readiness.ts';
import { Submission, type SubmissionDeps } from './submission.ts';

export interface RequestServiceDeps extends SubmissionDeps {
  settings: Pick<GatewaySettings, 'maxInflight' | 'maxQueue'>;
  bus: Bus;
  phase: () => GatewayPhase;
}

/** Takes requests from every front-end, and knows all that are alive: one place for bounds, drain and counters. */
export class RequestService {
  private readonly deps: RequestServiceDeps;
  private readonly active = new Set<Submission>();
  private idleWaiters: (() => void)[] = [];

  constructor(deps: RequestServiceDeps) {
    this.deps = deps;
  }

  get numActive(): number {
    return this.active.size;
  }

  newRid(): string {
    return newId('req', this.deps.generation.random);
  }

  /** Starts a request. Never throws: every outcome reaches `frontend` or the listener it returned. */
  submit(kind: 'chat' | 'completion', body: unknown, frontend: Frontend, rid = this.newRid()): Submitted {
    const submission = new Submission(rid, this.deps, frontend, () => this.onDone(submission));
    const refusal = this.refusal();
    if (refusal !== undefined) {
      submission.refuse(refusal);
      return submission;
    }
    this.active.add(submission);
    void submission.run(kind, body);
    return submission;
  }

  /** Resolves when no request is alive. */
  whenIdle(): Promise<void> {
    if (this.active.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  /** Ends every request that is still alive. */
  cancelAll(error: TokenrailError): void {
    for (const submission of [...this.active]) submission.cancel('abort', error);
  }

  private refusal(): TokenrailError | undefined {
    const { phase, bus, settings } = this.deps;
    if (phase() === 'starting') return new TokenrailError('model_unavailable', 'The gateway is starting.');
    if (phase() !== 'serving')
      return new TokenrailError('shutting_down', 'The server shuts down and takes no new requests.');
    if (bus.status !== 'connected')
      return new TokenrailError('bus_unavailable', 'The message bus is not connected.');
    // Counts those whose prompt is still being read too, so that nothing is unbounded.
    return this.active.size >= settings.maxInflight + settings.maxQueue ? overloaded() : undefined;
  }

  private onDone(submission: Submission): void {
    this.active.delete(submission);
    if (this.active.size > 0) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }
}
