import { modelError, stepTicks, type CompleteSpec, type StepTicks } from './chain-spec.ts';
import type { ModelId } from '../../core/request.ts';
import type { PeerView, QueueView, StartPolicy } from '../policy.ts';
import { startModel, type ChainState, type Starter } from './starter.ts';

/** What one model sees of a state of the chain. The same objects serve for all states: policies keep nothing. */
interface Seat {
  model: number;
  policy: StartPolicy;
  view: QueueView;
  peers: PeerView[];
}

/**
 * The system under one policy per model, evaluated through the very objects that serve. At an epoch idle models decide
 * one after the other, the home first, then by id, and each sees what those before it have just started; if nobody
 * runs after the last one, the longest queue starts (ties: the lower id). A hold lasts to the next epoch, and nobody
 * ever reaches the ceiling of `maxWaitMs`: the chain knows no waiting times.
 *
 * @throws TokenrailError `config_invalid` where there is not one policy per model
 */
export function policyStarter(
  spec: CompleteSpec,
  policies: readonly StartPolicy[],
  home: ModelId = 1,
): Starter {
  const ticks = stepTicks(spec);
  if (policies.length !== ticks.length)
    throw modelError(`${policies.length} policies for ${ticks.length} models`);
  const seats = policies.map((policy, model) => seatOf(spec, ticks, policy, model, home));
  seats.sort((a, b) => Number(b.view.self === home) - Number(a.view.self === home) || a.model - b.model);
  return (state) => {
    for (const seat of seats) {
      const at = 3 * seat.model;
      if (state[at + 1] !== 0 || state[at] === 0) continue;
      look(seat, state, spec);
      if (seat.policy.decide(seat.view).kind === 'start') startModel(state, seat.model, ticks);
    }
    startLongestIfIdle(state, ticks);
  };
}

/** The escape from a standstill: all wait, and nobody wants to start. */
function startLongestIfIdle(state: ChainState, ticks: StepTicks): void {
  let longest = 0;
  for (let model = 0; 3 * model < state.length; model += 1) {
    if (state[3 * model + 1] !== 0) return;
    if ((state[3 * model] ?? 0) > (state[3 * longest] ?? 0)) longest = model;
  }
  startModel(state, longest, ticks);
}

function seatOf(
  spec: CompleteSpec,
  ticks: StepTicks,
  policy: StartPolicy,
  model: number,
  home: ModelId,
): Seat {
  const lengths = ticks[model] ?? new Int32Array(2);
  const peers = spec.routing.map((row, peer) => idlePeer(peer + 1, row[model] ?? 0));
  peers.splice(model, 1);
  const view: QueueView = {
    self: model + 1,
    home,
    nowMs: 0,
    waiting: 0,
    oldestWaitMs: 0,
    alive: spec.concurrency,
    maxNumSeqs: spec.maxNumSeqs[model] ?? Infinity,
    isSystemStalled: false,
    peers,
    stepMs: (rows) => (lengths[Math.min(rows, lengths.length - 1)] ?? 0) * spec.quantumMs,
    stepJitter: 0,
    overlapFactor: spec.overlapFactor,
  };
  return { model, policy, view, peers };
}

function idlePeer(model: ModelId, shareToHere: number): PeerView {
  return { model, replica: '0', rowsRunning: 0, stepLeftMs: 0, waiting: 0, aliveAtHome: 0, shareToHere };
}

/** Fills in the view of an idle model. */
function look({ model, view, peers }: Seat, state: ChainState, spec: CompleteSpec): void {
  view.waiting = state[3 * model] ?? 0;
  let numRunning = 0;
  for (const peer of peers) if ((state[3 * peer.model - 2] ?? 0) > 0) numRunning += 1;
  const tickMs = numRunning > 1 ? spec.quantumMs / spec.overlapFactor : spec.quantumMs;
  for (const peer of peers) {
    const at = 3 * (peer.model - 1);
    peer.waiting = state[at] ?? 0;
    peer.rowsRunning = state[at + 1] ?? 0;
    peer.stepLeftMs = peer.rowsRunning > 0 ? (state[at + 2] ?? 0) * tickMs : 0;
  }
}
