import type { PeerReq } from '../../transport/messages.ts';

/** A handoff as the runtime sends it in the middle of a request: `tokens` new ids with their origins. */
export function sampleHandoff(tokens: number, hop: number): PeerReq {
  return {
    kind: 'peer-req',
    rid: 'req-7Qm2x8LbT0vNcYkR4sWd',
    term: 0,
    hop,
    from: 1,
    fromReplica: 'small-0',
    to: 2,
    suffix: Array.from({ length: tokens }, (_, i) => (hop * 31 + i * 7919) % 151_936),
    loc: 640 + tokens,
    home: { model: 1, replica: 'small-0' },
    origins: {
      models: Array.from({ length: tokens }, () => 1),
      signals: Array.from({ length: tokens }, () => 0.73),
    },
  };
}
