import type { ModelId, RequestLimits, SamplingParams } from '../../core/request.ts';
import type { AlgoFields, Router, RouteRow } from '../../routers/router.ts';
import { signalsOf, type ScriptedModel } from './chain-engine.ts';

export interface OracleModel {
  model: ScriptedModel;
  router: Router;
}

export interface OracleAnswer {
  ids: number[];
  models: ModelId[];
  reason: 'eos' | 'length';
}

/**
 * The plain loop for one request (order of a step as in docs/architecture.md): no batches, no queues, no
 * messages. What the asynchronous runtime writes must equal this, token for token.
 */
export function sequentialAnswer(
  models: ReadonlyMap<ModelId, OracleModel>,
  home: ModelId,
  prompt: readonly number[],
  sampling: SamplingParams,
  limits: RequestLimits,
): OracleAnswer {
  const tokens = [...prompt];
  const answer: OracleAnswer = { ids: [], models: [], reason: 'length' };
  let at = home;
  let numSinceArrival = 0;
  let algo: AlgoFields | undefined;
  const first = models
    .get(home)
    ?.router.first?.({ rid: 'oracle', tokens, promptLen: prompt.length, peerLocs: new Map() }, sampling);
  if (first) at = first;
  while (answer.ids.length < limits.maxTokens) {
    const entry = models.get(at);
    if (!entry) throw new Error(`no model ${at}`);
    const said = entry.model(tokens, sampling);
    const row: RouteRow = {
      rid: 'oracle',
      position: tokens.length,
      numGenerated: answer.ids.length,
      sampled: said.token,
      logprob: 0,
      entropyNats: 0,
      normalizedEntropy: said.entropy,
      ...signalsOf(said, entry.router.needs),
      ...(algo ? { algo } : {}),
      sampling,
      tokens,
      numSinceArrival,
    };
    const destination = entry.router.route([row])[0] ?? 0;
    const leaves = destination !== 0 && destination !== at;
    const passesOn = entry.router.passesOn === true && destination > at && destination !== home;
    const mustKeep = at !== home && numSinceArrival === 0 && !passesOn;
    const discards = leaves && entry.router.onHandoff === 'discard' && !mustKeep;
    const token = entry.router.choose?.(row) ?? said.token;
    if (!discards) {
      tokens.push(token);
      answer.ids.push(token);
      answer.models.push(at);
      numSinceArrival += 1;
      if (limits.stopIds.includes(token)) return { ...answer, reason: 'eos' };
    }
    if (leaves) {
      const view = { rid: 'oracle', tokens, promptLen: prompt.length, peerLocs: new Map() };
      algo = entry.router.send?.(view, destination, row).algo;
      at = destination;
      numSinceArrival = 0;
    }
  }
  return answer;
}
