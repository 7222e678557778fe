/**
 * What a handoff costs between two processes: encode, publish, receive, decode, queue; through nats-server and
 * through the embedded broker in its thread, in interleaved rounds on the same machine.
 *
 *   npx tsx bench/handoff.ts [--rounds 5] [--scale 1] [--json] [--check]
 */
import { parseArgs } from 'node:util';
import { SystemClock } from '../core/system-clock.ts';
import { resolveBroker, type ResolvedBroker } from '../transport/broker.ts';
import { PeerProcess } from './handoff/peer-process.ts';
import { BROKERS, loadsOf, type BrokerName, type Load, type RunResult } from './handoff/plan.ts';
import { checkBounds, printable, rowOf, type HandoffReport } from './handoff/report.ts';

const clock = new SystemClock();

async function startBrokers(): Promise<Map<BrokerName, ResolvedBroker>> {
  const started = new Map<BrokerName, ResolvedBroker>();
  started.set('embedded', await resolveBroker({ clock, preferEmbedded: true }));
  const server = await resolveBroker({ clock });
  if (server.kind === 'nats-server') started.set('nats-server', server);
  else await server.stop();
  return started;
}

/** Runs every load on every broker, `rounds` times; the order of brokers turns with each round. */
async function measure(
  driver: PeerProcess,
  brokers: readonly BrokerName[],
  loads: readonly Load[],
  rounds: number,
): Promise<HandoffReport['rows']> {
  const results = new Map<string, RunResult[]>();
  const key = (broker: BrokerName, load: Load): string => `${broker} ${load.inFlight} ${load.tokens}`;
  for (let round = 0; round < rounds; round += 1) {
    for (const load of loads) {
      const order = round % 2 === 0 ? brokers : [...brokers].reverse();
      for (const broker of order) {
        const result = await driver.ask({ do: 'run', broker, load });
        if (result === undefined) throw new Error('the driver returned no result');
        results.set(key(broker, load), [...(results.get(key(broker, load)) ?? []), result]);
      }
    }
  }
  return brokers.flatMap((broker) =>
    loads.map((load) => rowOf(broker, load, results.get(key(broker, load)) ?? [])),
  );
}

async function run(rounds: number, scale: number): Promise<HandoffReport> {
  const brokers = await startBrokers();
  const peers = [new PeerProcess('echo'), new PeerProcess('driver')] as const;
  try {
    for (const [broker, { url }] of brokers) {
      for (const peer of peers) await peer.ask({ do: 'connect', broker, url });
    }
    const names = BROKERS.filter((name) => brokers.has(name));
    const rows = await measure(peers[1], names, loadsOf(scale), rounds);
    await Promise.all(peers.map((peer) => peer.ask({ do: 'quit' })));
    const descriptions = [...brokers].map(([name, { description }]) => [name, description] as const);
    return { brokers: Object.fromEntries(descriptions), rows, bounds: checkBounds(rows) };
  } finally {
    for (const peer of peers) peer.kill();
    for (const broker of brokers.values()) await broker.stop();
  }
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const scale = Number(values.scale);
if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) throw new Error('--rounds must be 1 to 100');
if (!(scale > 0 && scale <= 10)) throw new Error('--scale must be above 0, at most 10');

const report = await run(rounds, scale);
process.stdout.write(`${values.json ? JSON.stringify(report, undefined, 2) : printable(report)}\n`);
if (report.brokers['nats-server'] === undefined)
  process.stderr.write('NOTICE: no nats-server on the PATH, only the embedded broker was measured\n');
if (values.check && report.bounds.some(({ holds }) => !holds)) process.exitCode = 1;
