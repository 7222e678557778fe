import { silentLogger } from '../../core/log.ts';
import { SystemClock } from '../../core/system-clock.ts';
import { connectNats } from '../../transport/nats.ts';
import { startBrokerRole } from '../roles/broker.ts';
import { ok } from './check.ts';
import type { Check } from './check.ts';

const clock = new SystemClock();

/** Starts or reaches the broker that `serve` would use, and sends a message there and back. */
export const brokerCheck: Check = {
  name: 'broker',
  fix: 'start the server that --nats names and check its address and token; or leave --nats out to use the embedded broker',
  run: async (resolved) => {
    const broker = await startBrokerRole({ resolved, clock, logger: silentLogger });
    try {
      const bus = await connectNats({
        servers: broker.info.url,
        name: 'tokenrail doctor',
        ...(resolved.config.natsToken === undefined ? {} : { token: resolved.config.natsToken }),
        logger: silentLogger,
        clock,
        connectTimeoutMs: resolved.config.advanced.connectTimeoutMs,
      });
      const subject = `${resolved.deployment.namespace}.doctor`;
      const subscription = bus.subscribe(subject, ({ payload, reply }) => {
        if (reply !== undefined) bus.publish(reply, payload);
      });
      await bus.flush();
      await bus.request(subject, new Uint8Array([1]), { timeoutMs: 2000 }).finally(async () => {
        subscription.unsubscribe();
        await bus.close();
      });
      return ok(`${broker.info.description} carries messages`);
    } finally {
      await broker.stop();
    }
  },
};
