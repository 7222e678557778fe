import type { ResolvedConfig } from '../config/deployment.ts';
import type { BrokerInfo } from '../roles/broker.ts';
import type { GatewayInfo } from '../roles/gateway.ts';
import type { SubserverInfo } from '../roles/subserver.ts';
import { ForkedRole } from './forked-role.ts';

/** The processes of a deployment, booting while the configuration is still being checked. */
export class Prepared {
  /** Absent where a broker was given: there is none to start. */
  readonly broker: ForkedRole<BrokerInfo> | undefined;
  readonly gateway = new ForkedRole<GatewayInfo>();
  readonly subservers: readonly { modelName: string; name: string; role: ForkedRole<SubserverInfo> }[];

  constructor({ config, models }: ResolvedConfig) {
    this.broker = config.nats === undefined ? new ForkedRole<BrokerInfo>() : undefined;
    this.subservers = models.flatMap(({ name, numReplicas }) =>
      Array.from({ length: numReplicas }, (_, i) => ({
        modelName: name,
        name: numReplicas === 1 ? name : `${name} ${i + 1}`,
        role: new ForkedRole<SubserverInfo>(),
      })),
    );
  }

  /** Ends those that run; used when the deployment is refused. */
  async stop(): Promise<void> {
    const roles = [this.broker, this.gateway, ...this.subservers.map(({ role }) => role)];
    await Promise.all(roles.map((role) => role?.stop() ?? Promise.resolve()));
  }
}
