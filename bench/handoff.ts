// tokenrail bench handoff (npm run bench:handoff): what a handoff costs between two processes.
import { SystemClock } from '../core/system-clock.ts';
import { resolveBroker, type ResolvedBroker } from '../transport/broker.ts';
import { number, parseFlags } from './ablation/settings.ts';
import { PeerProcess } from './handoff/peer-process.ts';
import { BROKERS, loadsOf, type BrokerName, type Load, type RunResult } from './handoff/plan.ts';
import { checkBounds, printable, rowOf, type HandoffReport } from './handoff/report.ts';

const USAGE = `What a handoff costs between two processes: encode, publish, receive, decode, queue; through nats-server and
through the embedded broker in its thread, in interleaved rounds on the same machine.

  --rounds n  interleaved rounds (5)
  --scale x   factor on the handoffs of each round (1)
  --json      print one JSON object
  --check     exit code 1 if a bound is missed
`;

const OPTIONS = {
  rounds: { type: 'string', default: '5' },
  scale: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

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

/** Runs the measurement of a command line. @returns the exit code: with `--check` 1 if a bound is missed */
export async function handoff(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const report = await run(
    number('rounds', flags.rounds, 1, 100, true),
    number('scale', flags.scale, 0.001, 10),
  );
  process.stdout.write(`${flags.json ? JSON.stringify(report, undefined, 2) : printable(report)}\n`);
  if (report.brokers['nats-server'] === undefined)
    process.stderr.write('NOTICE: no nats-server on the PATH, only the embedded broker was measured\n');
  return flags.check && report.bounds.some(({ holds }) => !holds) ? 1 : 0;
}
