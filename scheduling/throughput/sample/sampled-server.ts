import type { ModelId } from '../../../core/request.ts';
import type { PeerView, QueueView, StartPolicy } from '../../policy.ts';
import { Delays } from './delays.ts';

/** One replica of a model in the sample. Work is in integer microseconds, so that equal times stay equal. */
export interface SampledServer {
  index: number;
  model: number;
  policy: StartPolicy;
  view: QueueView;
  peers: PeerView[];
  /** The servers behind `peers`, in the same order. */
  peerServers: SampledServer[];
  /** Requests that wait here, oldest first, and since when each has, in milliseconds. */
  waiting: number[];
  readyMs: number[];
  running: number[];
  /** Work left of the step in flight, and what one expects from outside: negative when it is overdue. */
  leftUs: number;
  expectedUs: number;
  /** When a held start is looked at again. */
  lookAgainMs: number;
  /** Requests that may come here. */
  alive: number;
  /** Counts of steps, rows and busy time. */
  numSteps: number;
  numRows: number;
  busyMs: number;
  delays: Delays;
  /** Jitters drawn so far. */
  numDraws: number;
}

export interface ServerFacts {
  index: number;
  model: number;
  home: ModelId;
  policy: StartPolicy;
  maxNumSeqs: number;
  stepMs: (rows: number) => number;
  jitter: number;
  overlapFactor: number;
}

export function sampledServer(facts: ServerFacts): SampledServer {
  const peers: PeerView[] = [];
  const { index, model, policy, home, maxNumSeqs, stepMs, jitter, overlapFactor } = facts;
  const view: QueueView = {
    self: model + 1,
    home,
    nowMs: 0,
    waiting: 0,
    oldestWaitMs: 0,
    alive: 0,
    maxNumSeqs,
    isSystemStalled: false,
    peers,
    stepMs,
    stepJitter: jitter,
    overlapFactor,
  };
  const queues = { waiting: [], readyMs: [], running: [] };
  const counts = { alive: 0, numSteps: 0, numRows: 0, busyMs: 0, numDraws: 0, delays: new Delays() };
  return {
    ...{ index, model, policy, view, peers, peerServers: [] },
    ...queues,
    ...{ leftUs: 0, expectedUs: 0, lookAgainMs: Infinity },
    ...counts,
  };
}

/** Makes the servers see each other. @param share share of a peer's rows that come to a server of `to` */
export function introduce(
  servers: readonly SampledServer[],
  share: (from: number, to: number) => number,
): void {
  for (const server of servers) {
    for (const peer of servers) {
      if (peer === server) continue;
      server.peerServers.push(peer);
      server.peers.push({
        model: peer.model + 1,
        replica: String(peer.index),
        rowsRunning: 0,
        stepLeftMs: 0,
        waiting: 0,
        aliveAtHome: 0,
        shareToHere: peer.model === server.model ? 0 : share(peer.model, server.model),
      });
    }
  }
}

/** Fills in the view of an idle server. @param rate speed of the steps in flight */
export function lookAround(server: SampledServer, nowMs: number, rate: number): QueueView {
  const { view, peers, peerServers } = server;
  view.nowMs = nowMs;
  view.waiting = server.waiting.length;
  view.oldestWaitMs = nowMs - (server.readyMs[0] ?? nowMs);
  view.alive = server.alive;
  for (let i = 0; i < peers.length; i += 1) {
    const [peer, other] = [peers[i], peerServers[i]];
    if (!peer || !other) continue;
    peer.rowsRunning = other.running.length;
    peer.stepLeftMs = peer.rowsRunning > 0 ? other.expectedUs / 1000 / rate : 0;
    peer.waiting = other.waiting.length;
    peer.aliveAtHome = peer.model === view.home ? other.alive : 0;
  }
  return view;
}
