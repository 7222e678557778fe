import { RUN_LENGTH_LAWS, type RoutingLaw, type RunLengthLaw } from '../../engine/simulated/index.ts';
import { handoffRule, type RoutingMatrices } from '../../routers/simulated.ts';
import type { PolicySpec } from '../../scheduling/index.ts';
import type { SimulationOptions } from '../../simulation/index.ts';
import { splitList } from '../config/text-forms.ts';
import { flagError, numberFlag, parseSystem, type SystemText } from '../system-options.ts';
import { parsePolicies } from './policies.ts';

/** `tokenrail simulate` as the command line gives it. */
export interface SimulateText extends SystemText {
  concurrency?: string | undefined;
  overlapFactor?: string | undefined;
  policy?: string | undefined;
  thresholds?: string | undefined;
  maxWaitMs?: string | undefined;
  hopMs?: string | undefined;
  tokens?: string | undefined;
  tokensPerRequest?: string | undefined;
  promptTokens?: string | undefined;
  runLength?: string | undefined;
  shiftP?: string | undefined;
  drain?: string | undefined;
  jitter?: string | undefined;
  replicas?: string | undefined;
  seed?: string | undefined;
}

/** What is simulated: everything but the policy objects, which the specifications describe. */
export interface SimulatePlan {
  options: Omit<SimulationOptions, 'models'> & {
    models: Omit<SimulationOptions['models'][number], 'policy'>[];
  };
  policies: PolicySpec[];
  policy: string;
  thresholds: number[] | null;
}

const MAX_CONCURRENCY = 4096;
const DEFAULT_TOKENS = 200_000;
/** What fits a simulated context beside the longest prompt. */
const MAX_ANSWER_TOKENS = 900_000;
/** Beyond, an admission counts as unanswered before its answer can be there. */
const MAX_HOP_MS = 1000;

/** A number of the command line, or its default. */
function numberOr(
  flag: string,
  text: string | undefined,
  value: number,
  limits: Parameters<typeof numberFlag>[2],
): number {
  return text === undefined ? value : numberFlag(flag, text, limits);
}

/** Parts of `a,b,c`, as many as expected. */
function numbersFlag(
  flag: string,
  text: string,
  count: number,
  limits: Parameters<typeof numberFlag>[2],
): number[] {
  const parts = splitList(text);
  if (parts.length !== count)
    throw flagError(flag, `expected ${count} numbers separated by commas, got "${text}"`);
  return parts.map((part) => numberFlag(flag, part, limits));
}

/** The law of the home, and what its guests draw by. */
function parseLaws(text: string | undefined, { routing }: RoutingMatrices): RoutingLaw[] {
  const independent = routing.map((): RoutingLaw => ({ kind: 'bernoulli' }));
  if (text === undefined || text === 'bernoulli') return independent;
  const [kind = '', value] = text.split('=', 2);
  if (kind === 'correlated') {
    const rho = numberOr('--run-length', value, 0.5, { min: 0, max: 1 });
    return routing.map(() => ({ kind, rho }));
  }
  const known: readonly string[] = RUN_LENGTH_LAWS;
  if (value !== undefined || !known.includes(kind)) {
    const names = ['bernoulli', ...known, 'correlated=RHO'].join(', ');
    throw flagError('--run-length', `expected one of ${names}, got "${text}"`);
  }
  const leave = (routing[0] ?? []).slice(1).reduce((sum, p) => sum + p, 0);
  return [{ kind: kind as RunLengthLaw, leave }, ...independent.slice(1)];
}

/** What the throughput model can describe and a router cannot do, such as leaving the home with and without a token. */
function checkHandoffs(matrices: RoutingMatrices): void {
  matrices.routing.forEach((_, i) => {
    try {
      handoffRule(matrices, i + 1, 1);
    } catch (error) {
      throw flagError('--routing', error instanceof Error ? error.message : String(error), error);
    }
  });
}

function parseShift(text: string | undefined, matrices: RoutingMatrices): SimulationOptions['shift'] {
  if (text === undefined) return undefined;
  if (matrices.routing.length !== 2) throw flagError('--shift-p', 'is for two models');
  const [a = 0, b = 0, everyTokens = 0] = numbersFlag('--shift-p', text, 3, { min: 0 });
  for (const p of [a, b])
    if (!(p > 0 && p < 1)) throw flagError('--shift-p', `a and b must lie between 0 and 1, got ${p}`);
  if (!Number.isInteger(everyTokens) || everyTokens < 1)
    throw flagError('--shift-p', `everyTokens must be a positive integer, got ${everyTokens}`);
  const [, guest = [1, 0]] = matrices.routing;
  const at = (p: number): RoutingMatrices => ({ ...matrices, routing: [[1 - p, p], guest] });
  return { matrices: [at(a), at(b)], everyTokens };
}

function parseDrain(text: string | undefined): SimulationOptions['drain'] {
  if (text === undefined) return undefined;
  const limits = { min: 1, max: MAX_ANSWER_TOKENS, isInteger: true };
  const [numRequests = 1, minTokens = 1, maxTokens = 1] = numbersFlag('--drain', text, 3, limits);
  if (numRequests > MAX_CONCURRENCY)
    throw flagError('--drain', `at most ${MAX_CONCURRENCY} requests, got ${numRequests}`);
  if (minTokens > maxTokens)
    throw flagError('--drain', `the shortest answer (${minTokens}) exceeds the longest`);
  return { numRequests, minTokens, maxTokens };
}

function parseModels(
  text: SimulateText,
  stepMs: readonly number[],
  laws: readonly RoutingLaw[],
): SimulatePlan['options']['models'] {
  const jitter = numberOr('--jitter', text.jitter, 0, { min: 0, max: 1 });
  const replicas =
    text.replicas === undefined
      ? stepMs.map(() => 1)
      : numbersFlag('--replicas', text.replicas, stepMs.length, { min: 1, max: 64, isInteger: true });
  return stepMs.map((baseMs, i) => ({
    stepTime: { baseMs, jitter },
    law: laws[i] ?? { kind: 'bernoulli' },
    replicas: replicas[i] ?? 1,
  }));
}

/**
 * Reads the options of `tokenrail simulate`.
 * @throws TokenrailError `config_invalid` naming the flag
 */
export function parseSimulate(text: SimulateText): SimulatePlan {
  const { routing, commits, stepMs } = parseSystem(
    text.shiftP === undefined || text.p !== undefined ? text : { ...text, p: text.shiftP.split(',')[0] },
  );
  const matrices = { routing, commits };
  checkHandoffs(matrices);
  const shift = parseShift(text.shiftP, matrices);
  const drain = parseDrain(text.drain);
  if (shift && text.runLength !== undefined)
    throw flagError('--run-length', 'has one mean and so excludes --shift-p');
  const whole = { min: 1, isInteger: true };
  const answer = { ...whole, max: MAX_ANSWER_TOKENS };
  const { policies, policy, thresholds } = parsePolicies(text, stepMs.length);
  return {
    policies,
    policy,
    thresholds,
    options: {
      models: parseModels(text, stepMs, parseLaws(text.runLength, matrices)),
      matrices,
      concurrency: numberOr('--concurrency', text.concurrency, 8, { ...whole, max: MAX_CONCURRENCY }),
      totalTokens: numberOr('--tokens', text.tokens, DEFAULT_TOKENS, { ...whole, min: 100, max: 1e9 }),
      tokensPerRequest: numberOr('--tokens-per-request', text.tokensPerRequest, 256, answer),
      promptTokens: numberOr('--prompt-tokens', text.promptTokens, 16, { ...whole, max: 65_536 }),
      overlapFactor: numberOr('--overlap-factor', text.overlapFactor, 1, {
        min: 0,
        isMinExcluded: true,
        max: 1,
      }),
      network: { hopMs: numberOr('--hop-ms', text.hopMs, 0, { min: 0, max: MAX_HOP_MS }) },
      seed: numberOr('--seed', text.seed, 1, { isInteger: true }),
      ...(shift ? { shift } : {}),
      ...(drain ? { drain } : {}),
    },
  };
}
