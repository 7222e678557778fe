import { createPolicy, type PolicySpec } from '../create-policy.ts';
import type { StartPolicy } from '../policy.ts';
import { buildChain, TooManyStatesError } from '../throughput/build-chain.ts';
import { completeSpec, type CompleteSpec } from '../throughput/chain-spec.ts';
import { policyStarter } from '../throughput/policy-starter.ts';
import { quantumFor } from '../throughput/quantum.ts';
import { samplePolicies, type SampleSpec } from '../throughput/sample.ts';
import { solveChain } from '../throughput/throughput.ts';
import type { Configured } from './configured.ts';
import type { SystemSpec } from './plan.ts';

/** How much work a plan may be. */
export interface PlanEffort {
  /** States of a chain above which a policy is sampled instead. */
  maxStates: number;
  /** Tokens of a sample that ranks candidates, and of one that only guides a search for thresholds. */
  tokens: number;
  searchTokens: number;
}

/** Relative standard deviation of step times above which phases no longer repeat, and the exact chain misleads. */
const EXACT_JITTER = 0.03;
/** A ceiling below this many of the longest steps ends waits often enough to matter; the chain knows no ceiling. */
const CEILING_STEPS = 6;
/** Ticks of the longest step: fine enough for phases, 0.1 ms for steps of up to 50 ms. */
const MAX_TICKS = 500;
/** One seed for all: policies are compared on the same requests. */
const SEED = 1;

/**
 * What policies give for one number of requests alive: exactly, by the chain, where the chain is the system (one
 * replica each, steady step times, no ceiling in sight) and small enough; else sampled, with common random numbers.
 */
export class Evaluator {
  readonly isExactPossible: boolean;
  private readonly effort: PlanEffort;
  private readonly spec: CompleteSpec & SampleSpec;
  readonly configured: Configured;

  /** @throws TokenrailError `config_invalid` for a wrong system */
  constructor(system: SystemSpec, alive: number, configured: Configured, effort: PlanEffort) {
    const { routing, commits, stepMs, overlapFactor, home, replicas = [], jitter = [], maxNumSeqs } = system;
    const quantumMs = quantumFor(stepMs, MAX_TICKS);
    const spec = { routing, commits, stepMs, overlapFactor, concurrency: alive, quantumMs };
    const complete = completeSpec(maxNumSeqs ? { ...spec, maxNumSeqs } : spec);
    this.spec = { ...complete, replicas, jitter, home };
    this.effort = effort;
    this.configured = configured;
    const longestMs = Math.max(...stepMs.flat());
    const isSteady = jitter.every((deviation) => deviation <= EXACT_JITTER);
    const hasCeiling = configured.leastCeilingMs(stepMs.length) < CEILING_STEPS * longestMs;
    this.isExactPossible = isSteady && !hasCeiling && replicas.every((count) => count === 1);
  }

  get alive(): number {
    return this.spec.concurrency;
  }

  /** Exact tokens per second; undefined where the chain is not the system, or too large. */
  exact(policies: readonly PolicySpec[]): number | undefined {
    if (!this.isExactPossible) return undefined;
    try {
      const starter = policyStarter(this.spec, this.make(policies), this.spec.home);
      return solveChain(this.spec, buildChain(this.spec, starter, this.effort.maxStates)).tokensPerSecond;
    } catch (thrown) {
      if (thrown instanceof TooManyStatesError) return undefined;
      throw thrown;
    }
  }

  /** Simulated tokens per second and 99th percentile of the admission delay, the worst over the models. */
  sampled(
    policies: readonly PolicySpec[],
    tokens = this.effort.tokens,
  ): { tokensPerSecond: number; p99AdmissionMs: number } {
    const sample = samplePolicies(this.spec, this.make(policies), { tokens, seed: SEED });
    return {
      tokensPerSecond: sample.tokensPerSecond,
      p99AdmissionMs: Math.max(...sample.p99AdmissionMs),
    };
  }

  /** A rough value, good enough to guide a search. */
  rough(policies: readonly PolicySpec[]): number {
    return this.sampled(policies, this.effort.searchTokens).tokensPerSecond;
  }

  private make(policies: readonly PolicySpec[]): StartPolicy[] {
    return this.configured.settled(policies).map((policy) => createPolicy(policy));
  }
}
