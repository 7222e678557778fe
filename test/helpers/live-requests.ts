import { HomeRequest } from '../../actors/subserver/home-request.ts';
import { LiveRequest } from '../../actors/subserver/live-request.ts';
import type { RequestInit } from '../../transport/messages.ts';
import { greedy } from './sim-deployment.ts';

const init = (promptLen: number, maxTokens = 100): RequestInit => ({
  promptLen,
  sampling: greedy,
  limits: { maxTokens, stopIds: [0] },
  router: 'r-stitch',
});

const ids = (count: number): number[] => Array.from({ length: count }, (_, i) => 1 + i);

export function homeRequest(rid: string, seq: number, promptLen = 4): HomeRequest {
  const home = { model: 1, replica: 'r0' };
  return new HomeRequest({
    rid,
    seq,
    init: init(promptLen),
    home,
    tokens: ids(promptLen),
    gateway: 'gw',
    clientTerm: 0,
  });
}

export function guestRequest(rid: string, seq: number, homeReplica: string): LiveRequest {
  const home = { model: 1, replica: homeReplica };
  return new LiveRequest({ rid, seq, role: 'guest', init: init(4), home, tokens: ids(4), term: 0, hop: 1 });
}
