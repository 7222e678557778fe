import type { Clock, Timer } from '../../core/clock.ts';
import { TokenrailError, toTokenrailError } from '../../core/errors.ts';
import type { EndReason } from '../../core/request.ts';
import type { Abort, Finish, Message, Tokens } from '../../transport/messages.ts';
import { Admission } from './admission.ts';
import type { Delta, GenerationEnd, GenerationListener } from './generation-events.ts';
import { finishError } from './finish-error.ts';
import { guardedClock } from './guarded-clock.ts';
import type { GenerationDeps, GenerationPlan } from './generation-plan.ts';
import type { InboxPurpose, RequestHandler } from './home-link.ts';
import { TokenLog } from './token-log.ts';
import { countUsage, type Usage } from './usage.ts';
import { Watchdog } from './watchdog.ts';

/**
 * The gateway's side of one request: finds a home, turns its tokens into text, watches over its silence and
 * ends exactly once. Callback-driven. `term` is 0 until recovery moves requests between homes: everything
 * such a move needs, prompt and tokens with their origins, is kept here.
 */
export class Generation implements RequestHandler {
  private readonly plan: GenerationPlan;
  private readonly deps: GenerationDeps;
  private readonly listener: GenerationListener;
  private readonly clock: Clock;
  private readonly admission: Admission;
  private readonly watchdog: Watchdog;
  private readonly log: TokenLog;
  private readonly term = 0;
  private readonly timers = new Set<Timer>();
  private ended = false;
  private admittedShown = false;
  /** A second home was sent away: its Finish says "abort" and is not meant for us. */
  private duplicateSentAway = false;
  /** Length of the log at which the missing tokens were last asked for. */
  private askedAt = -1;
  private stop: { text: string; abort: Abort } | undefined;
  private finish: Finish | undefined;

  constructor(plan: GenerationPlan, deps: GenerationDeps, listener: GenerationListener) {
    this.plan = plan;
    this.deps = deps;
    this.listener = listener;
    this.log = new TokenLog(plan.limits.maxTokens);
    this.clock = guardedClock(deps.clock, (thrown) => this.onFault(thrown));
    this.admission = new Admission({
      clock: this.clock,
      random: deps.random,
      admitTimeoutMs: deps.admitTimeoutMs,
      send: () => this.sendAdmit(),
      onHome: () => this.onHome(),
      onFailed: (error) => this.fail(error),
    });
    const onSilent = (): void => this.fail(unavailable('The home model stopped answering.'));
    this.watchdog = new Watchdog(this.clock, deps.idleProbeMs, () => this.askTokens(), onSilent);
  }

  get rid(): string {
    return this.plan.rid;
  }

  /** Its time runs from now on, although it may still wait for its turn. */
  watchDeadline(): void {
    const { deadlineAtMs } = this.plan;
    if (deadlineAtMs !== undefined) this.arm(deadlineAtMs - this.deps.clock.nowMs(), () => this.onDeadline());
  }

  /** Its turn has come; faults reach the listener, never the caller. */
  start(): void {
    if (this.ended) return;
    this.deps.link.register(this.rid, this);
    this.guarded(() => this.admission.start());
  }

  /** Ends the request with `error` and tells the home, if there is one. Idempotent. */
  cancel(reason: EndReason, error: TokenrailError): void {
    if (this.ended) return;
    this.end({ kind: 'failed', error, usage: this.usage() }, this.abort(reason));
  }

  onFault(thrown: unknown): void {
    this.fail(toTokenrailError(thrown));
  }

  onNoResponders(purpose: InboxPurpose): void {
    if (this.ended) return;
    if (purpose === 'admit') this.admission.onNoResponders();
    else if (purpose === 'probe') this.fail(unavailable('The replica that worked on the request is gone.'));
    else this.cancel('abort', new TokenrailError('cancelled', 'The client went away.'));
  }

  onMessage(message: Message): void {
    if (this.ended) return;
    if (!('term' in message) || message.term !== this.term) return this.deps.traffic.dropped('stale_term', 1);
    switch (message.kind) {
      case 'admitted':
        return void this.isFromHome(message.replica);
      case 'reject':
        return this.admission.onReject(message);
      case 'tokens':
        return this.isFromHome(message.replica) ? this.onTokens(message) : undefined;
      case 'finish':
        return this.isFromHome(message.replica) ? this.onFinish(message) : undefined;
      default:
        return this.deps.traffic.dropped('unexpected', 1);
    }
  }

  private sendAdmit(): void {
    const { plan, deps } = this;
    const { deadlineAtMs, promptIds, sampling, limits, router } = plan;
    const left =
      deadlineAtMs === undefined ? {} : { deadlineMs: Math.max(1, deadlineAtMs - deps.clock.nowMs()) };
    const { configHash } = deps;
    const init = { promptLen: promptIds.length, sampling, limits, router, configHash };
    deps.link.admit({
      kind: 'admit',
      rid: plan.rid,
      term: this.term,
      tokens: promptIds,
      init,
      gateway: deps.gatewayId,
      ...left,
    });
  }

  /** The first replica that speaks is the home; a second one that took the request as well is sent away. */
  private isFromHome(replica: string | undefined): boolean {
    if (replica === undefined || this.admission.onAdmitted(replica) !== 'duplicate') return true;
    this.deps.traffic.dropped('duplicate', 1);
    this.duplicateSentAway = true;
    this.deps.link.toReplica(replica, this.abort('abort'));
    return false;
  }

  private onHome(): void {
    this.watchdog.start();
    this.showAdmitted();
    // Tokens may have run ahead of the home's name with a gap among them.
    if (this.finish !== undefined && !this.ended) this.askTokens();
  }

  private showAdmitted(): void {
    if (this.admittedShown) return;
    this.admittedShown = true;
    this.listener.onAdmitted();
  }

  private onTokens(message: Tokens): void {
    this.admission.onTokens();
    // What follows a stop string is neither shown nor counted.
    if (this.stop !== undefined) return;
    const result = this.log.accept(message);
    if (result.kind === 'gap') {
      this.deps.traffic.dropped('gap', 1);
      if (this.askedAt !== this.log.length) this.askTokens();
      return;
    }
    // After the Finish only new tokens count as life: a home that has no more to say must not keep us waiting.
    if (this.finish === undefined || result.kind === 'new') this.watchdog.touch();
    if (result.kind === 'known') {
      if (message.ids.length > 0) this.deps.traffic.dropped('duplicate', 1);
    } else {
      this.showAdmitted();
      this.showTokens(result.from);
    }
    if (this.finish !== undefined) this.settle(this.finish);
  }

  /** Tokens from `from` on are new: text, stop strings, the listener. */
  private showTokens(from: number): void {
    const { plan, log } = this;
    // Ids that end a request are part of it, but never of its text.
    const last = log.ids[log.length - 1];
    const endsHere = last !== undefined && plan.limits.stopIds.includes(last);
    const readable = log.ids.slice(from, endsHere ? log.length - 1 : log.length);
    const read = plan.answer.push(readable, from);
    if (read.stoppedAt !== undefined) log.truncate(read.stoppedAt);
    const delta: Delta = {
      text: read.text,
      ids: log.ids.slice(from),
      models: log.models.slice(from),
      signals: log.signals.slice(from),
      // One entry per token: none for those a stop cut off, an empty one for the token that ended the answer.
      texts: log.ids.slice(from).map((_, index) => read.tokenTexts[index] ?? ''),
    };
    this.listener.onDelta(delta);
    if (read.stoppedAt !== undefined && !this.ended) this.onStopString(read.stop ?? '', read.stoppedAt);
  }

  private onStopString(text: string, at: number): void {
    const abort: Abort = { ...this.abort('stop'), at };
    this.stop = { text, abort };
    if (this.finish !== undefined) return;
    const home = this.admission.home;
    if (home === undefined) return this.endStopped(undefined);
    this.deps.link.toReplica(home, abort);
    this.arm(this.deps.stopWaitMs, () => this.endStopped(undefined));
  }

  private onFinish(message: Finish): void {
    if (message.reason === 'abort' && this.duplicateSentAway)
      return this.deps.traffic.dropped('duplicate', 1);
    if (this.finish === undefined) this.watchdog.touch();
    this.finish ??= message;
    this.settle(this.finish);
  }

  /** Ends the request once every token that `finish` counts is here. */
  private settle(finish: Finish): void {
    if (this.ended) return;
    if (this.stop !== undefined) return this.endStopped(finish);
    if (finish.reason === 'error' || finish.reason === 'deadline' || finish.reason === 'abort') {
      return this.end({ kind: 'failed', error: finishError(finish), usage: this.usage(finish) }, undefined);
    }
    const expected = Math.min(finish.usage.completionTokens, this.plan.limits.maxTokens);
    if (this.log.length < expected) {
      if (this.askedAt !== this.log.length) this.askTokens();
      return;
    }
    this.flushText();
    const finishReason = finish.reason === 'length' ? 'length' : 'stop';
    this.end({ kind: 'finished', finishReason, stopString: undefined, usage: this.usage(finish) }, undefined);
  }

  private endStopped(finish: Finish | undefined): void {
    if (this.stop === undefined) return;
    const usage = this.usage(finish?.reason === 'stop' ? finish : undefined);
    const end: GenerationEnd = { kind: 'finished', finishReason: 'stop', stopString: this.stop.text, usage };
    this.end(end, undefined, finish === undefined ? this.stop.abort : undefined);
  }

  private flushText(): void {
    const text = this.plan.answer.finish();
    if (text !== '') this.listener.onDelta({ text, ids: [], models: [], signals: [], texts: [] });
  }

  /** Asks the home for everything from the end of the log on; its answer may be empty. */
  private askTokens(): void {
    const home = this.admission.home;
    if (home === undefined) return;
    this.askedAt = this.log.length;
    const { rid, term, askedAt: have } = this;
    const fromReplica = this.deps.gatewayId;
    const ask = { kind: 'needs-prefix', rid, term, hop: 0, from: 0, fromReplica, have } as const;
    this.deps.link.toReplica(home, ask, true);
  }

  private onDeadline(): void {
    this.cancel('deadline', new TokenrailError('deadline_exceeded', 'The request did not finish in time.'));
  }

  private fail(error: TokenrailError): void {
    this.cancel('abort', error);
  }

  private abort(reason: EndReason): Abort {
    return { kind: 'abort', rid: this.rid, term: this.term, reason };
  }

  private usage(finish?: Finish): Usage {
    const { deployment } = this.deps;
    const handoffs = finish?.usage.handoffs ?? this.log.writerChanges(deployment.home);
    return countUsage(deployment, this.plan.promptIds.length, this.log, handoffs);
  }

  /** `tell` is sent to the home now; `repeat` only if the home turns out not to have heard of the end. */
  private end(end: GenerationEnd, tell: Abort | undefined, repeat: Abort | undefined = tell): void {
    if (this.ended) return;
    this.ended = true;
    this.admission.close();
    this.watchdog.close();
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
    const home = this.admission.home;
    this.deps.link.release(this.rid, home, repeat);
    this.listener.onEnd(end);
    if (tell !== undefined && home !== undefined) this.deps.link.tryToReplica(home, tell);
  }

  private arm(delayMs: number, callback: () => void): void {
    this.timers.add(this.clock.setTimer(delayMs, callback));
  }

  private guarded(call: () => void): void {
    try {
      call();
    } catch (thrown) {
      this.onFault(thrown);
    }
  }
}

function unavailable(message: string): TokenrailError {
  return new TokenrailError('model_unavailable', message);
}
