import { DebugEvents, Events, type NatsConnection } from 'nats';
import type { Logger } from '../core/log.ts';
import type { BusStatus } from './bus.ts';

/** Translates the client's status events until the connection is closed for good. */
export function followStatus(
  connection: NatsConnection,
  logger: Logger,
  onStatus: (status: BusStatus) => void,
): void {
  const follow = async (): Promise<void> => {
    for await (const { type, data } of connection.status()) {
      if (type === Events.Disconnect) {
        logger.warn({ server: data }, 'bus disconnected');
        onStatus('disconnected');
      } else if (type === Events.Reconnect) {
        logger.info({ server: data }, 'bus connected again');
        onStatus('connected');
      } else if (type === Events.Error || type === Events.LDM || type === DebugEvents.StaleConnection) {
        logger.warn({ event: type, data }, 'bus event');
      }
    }
  };
  const onClosed = (): void => onStatus('closed');
  follow().catch((thrown: unknown) => logger.error({ err: thrown }, 'bus status events ended'));
  connection.closed().then(onClosed, onClosed);
}
