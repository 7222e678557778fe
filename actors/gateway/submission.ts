import { TokenrailError, toTokenrailError } from '../../core/errors.ts';
import type { EndReason } from '../../core/request.ts';
import type { AdmissionGate, GateTicket } from './admission-gate.ts';
import type { Frontend, Submitted } from './frontend.ts';
import { Generation } from './generation.ts';
import type { GenerationDeps } from './generation-plan.ts';
import { RequestTrace, type RequestTraceDeps } from './metrics/request-trace.ts';
import { formatFor } from './openai/format-for.ts';
import type { PlanMaker } from './plan-maker.ts';

export interface SubmissionDeps extends RequestTraceDeps {
  gate: AdmissionGate;
  generation: GenerationDeps;
  /** Undefined until the tokenizer is loaded. */
  planMaker: () => PlanMaker | undefined;
}

/** One request from its arrival to its end. */
export class Submission implements Submitted {
  private readonly rid: string;
  private readonly deps: SubmissionDeps;
  private readonly frontend: Frontend;
  private readonly onDone: () => void;
  private readonly trace: RequestTrace;
  private generation: Generation | undefined;
  private ticket: GateTicket | undefined;
  private done = false;

  constructor(rid: string, deps: SubmissionDeps, frontend: Frontend, onDone: () => void) {
    this.rid = rid;
    this.deps = deps;
    this.frontend = frontend;
    this.onDone = onDone;
    this.trace = new RequestTrace(rid, deps);
  }

  async run(kind: 'chat' | 'completion', body: unknown): Promise<void> {
    try {
      const planMaker = this.deps.planMaker();
      if (planMaker === undefined) throw new TokenrailError('model_unavailable', 'The gateway is starting.');
      const { request, plan } = await planMaker.make(this.rid, kind, body, this.trace.arrivedAtMs);
      if (this.done) return;
      this.trace.router = plan.router;
      const format = formatFor(request, plan, this.deps.generation.deployment, this.deps.clock);
      const listener = this.trace.follow(this.frontend.accept(request, format), () => this.finish());
      this.generation = new Generation(plan, this.deps.generation, listener);
      const { generation } = this;
      generation.watchDeadline();
      this.ticket = this.deps.gate.enter(() => generation.start());
      // It may have ended within `enter`, before there was a ticket to give back.
      if (this.done) this.ticket.leave();
    } catch (thrown) {
      this.refuse(toTokenrailError(thrown));
    }
  }

  cancel(reason: EndReason, error: TokenrailError): void {
    if (this.done) return;
    if (this.generation !== undefined) this.generation.cancel(reason, error);
    else this.refuse(error);
  }

  refuse(error: TokenrailError): void {
    if (this.done) return;
    this.trace.refused(error);
    try {
      this.frontend.refuse(error);
    } catch (thrown) {
      this.deps.logger.warn({ rid: this.rid, err: thrown }, 'a refusal could not be delivered');
    }
    this.finish();
  }

  private finish(): void {
    if (this.done) return;
    this.done = true;
    this.ticket?.leave();
    this.onDone();
  }
}
