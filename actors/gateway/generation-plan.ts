import type { Clock } from '../../core/clock.ts';
import type { Deployment } from '../../core/deployment.ts';
import type { RandomSource } from '../../core/random.ts';
import type { RequestLimits, SamplingParams } from '../../core/request.ts';
import type { HomeLink } from './home-link.ts';
import type { BusTraffic } from './metrics/bus-traffic.ts';
import type { AnswerText } from './text/answer-text.ts';

/** One request as the home is to see it, and the text layer that reads its tokens. */
export interface GenerationPlan {
  rid: string;
  promptIds: readonly number[];
  sampling: SamplingParams;
  limits: RequestLimits;
  router: string;
  answer: AnswerText;
  /** Clock time at which the request's time is up. */
  deadlineAtMs: number | undefined;
}

export interface GenerationDeps {
  clock: Clock;
  random: RandomSource;
  link: HomeLink;
  deployment: Deployment;
  gatewayId: string;
  /** Travels with each Admit: a replica of another configuration refuses it. */
  configHash: string;
  traffic: BusTraffic;
  admitTimeoutMs: number;
  idleProbeMs: number;
  stopWaitMs: number;
}
