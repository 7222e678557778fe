import { PeerProcess } from '../handoff/peer-process.ts';
import { median } from '../handoff/statistics.ts';

const LOAD = { inFlight: 1, tokens: 1, handoffs: 1000 };

/** One-way latency of a handoff between two processes over this nats-server, in milliseconds: codec, bus and queue. */
export async function measureHopMs(url: string, rounds: number): Promise<number> {
  const peers = [new PeerProcess('echo'), new PeerProcess('driver')] as const;
  try {
    for (const peer of peers) await peer.ask({ do: 'connect', broker: 'nats-server', url });
    const hops: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const result = await peers[1].ask({ do: 'run', broker: 'nats-server', load: LOAD });
      if (result) hops.push(result.medianUs / 1000);
    }
    await Promise.all(peers.map((peer) => peer.ask({ do: 'quit' })));
    return median(hops);
  } finally {
    for (const peer of peers) peer.kill();
  }
}
