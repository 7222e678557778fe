import { SystemClock } from '../../core/system-clock.ts';
import type { Bus } from '../../transport/bus.ts';
import { connectNats } from '../../transport/nats.ts';
import { Driver, serveEcho } from './driver.ts';
import type { BrokerName, PeerCommand, PeerReport, RunResult } from './plan.ts';

/** One of the two processes of the benchmark: `driver` or `echo`, connected to every broker at once. */
const isDriver = process.argv[2] === 'driver';
const buses = new Map<BrokerName, Bus>();
const drivers = new Map<BrokerName, Driver>();

async function connectTo(broker: BrokerName, url: string): Promise<void> {
  const bus = await connectNats({ servers: url, name: `bench-${process.argv[2]}`, clock: new SystemClock() });
  buses.set(broker, bus);
  if (isDriver) drivers.set(broker, new Driver(bus));
  else serveEcho(bus);
  await bus.flush();
}

async function obey(command: PeerCommand): Promise<RunResult | undefined> {
  switch (command.do) {
    case 'connect':
      await connectTo(command.broker, command.url);
      return undefined;
    case 'run':
      return drivers.get(command.broker)?.run(command.load);
    case 'quit':
      await Promise.all([...buses.values()].map((bus) => bus.close()));
      process.disconnect();
      return undefined;
  }
}

const report = (message: PeerReport): void => void process.send?.(message);

process.on('message', (command: PeerCommand) => {
  obey(command).then(
    (result) => process.connected && report(result === undefined ? { ok: true } : { ok: true, result }),
    (thrown: unknown) =>
      report({ ok: false, message: thrown instanceof Error ? thrown.message : String(thrown) }),
  );
});
