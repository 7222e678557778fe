import { TokenrailError } from '../../core/errors.ts';
import type { SignalNeeds } from '../engine.ts';
import type { RoutingLaw } from './routing-law.ts';
import { checkStepTime, type StepTimeModel } from './step-time.ts';

/** What a simulated engine is to be like. */
export interface SimulatedEngineOptions {
  /** 1..M, part of the key of every draw and of every token. */
  modelId: number;
  stepTime: StepTimeModel;
  /** Default `bernoulli`. */
  law?: RoutingLaw;
  /** Of what is shared by all requests: jitter, correlated draws. Default 0. */
  seed?: number;
  /** Ids that are written are below this. Default 1000. */
  vocabSize?: number;
  /** Never written. Default none. */
  eosIds?: readonly number[];
  /** Default 1,048,576. */
  maxModelLenTokens?: number;
  /** Rows of one step at most. Default 1024. */
  maxNumSeqs?: number;
  /** Default: as many as never run out (2^31). */
  numKvBlocks?: number;
  /** Default 256. */
  blockSizeTokens?: number;
  /** What the routers declared; only signals that a simulation has may be among it. */
  needs?: SignalNeeds;
}

export type CompleteSimulatedOptions = Required<Omit<SimulatedEngineOptions, 'needs'>>;

/**
 * Defaults filled in.
 * @throws TokenrailError `config_invalid` naming the option; also where a router needs logits or vectors
 */
export function completeSimulatedOptions(options: SimulatedEngineOptions): CompleteSimulatedOptions {
  const { needs, ...given } = options;
  refuseNeeds(needs ?? {});
  const complete: CompleteSimulatedOptions = {
    law: { kind: 'bernoulli' },
    seed: 0,
    vocabSize: 1000,
    eosIds: [],
    maxModelLenTokens: 1_048_576,
    maxNumSeqs: 1024,
    numKvBlocks: 0x7fff_ffff,
    blockSizeTokens: 256,
    ...given,
  };
  checkStepTime(complete.stepTime);
  for (const name of [
    'modelId',
    'vocabSize',
    'maxModelLenTokens',
    'maxNumSeqs',
    'numKvBlocks',
    'blockSizeTokens',
  ] as const) {
    const value = complete[name];
    if (!Number.isInteger(value) || value < 1) throw wrong(name, `must be a positive integer, not ${value}`);
  }
  return complete;
}

/** A router that reads logits would decide about noise without a word. @throws TokenrailError `config_invalid` */
function refuseNeeds(needs: SignalNeeds): void {
  for (const [name, value] of Object.entries(needs)) {
    const isAsked = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
    if (isAsked)
      throw wrong('needs', `: a router needs "${name}", and a simulated engine has no logits or vectors`);
  }
}

function wrong(name: string, problem: string): TokenrailError {
  return new TokenrailError('config_invalid', `simulated engine: ${name} ${problem}`, { param: name });
}
