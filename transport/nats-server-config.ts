/** What a private nats-server is started with. */
export interface NatsServerSettings {
  host: string;
  /** 0 = a free port. */
  port: number;
  maxPayloadBytes: number;
  token?: string;
  /** Where the server writes the addresses it is bound to. */
  portsFolder: string;
}

/** A string in the server's configuration language; JSON's escapes are a part of it. */
const quote = (text: string): string => JSON.stringify(text);

/** The configuration file: nothing but core NATS for clients on one address. */
export function natsServerConfig({
  host,
  port,
  maxPayloadBytes,
  token,
  portsFolder,
}: NatsServerSettings): string {
  const lines = [
    `host: ${quote(host)}`,
    `port: ${port === 0 ? -1 : port}`,
    `max_payload: ${maxPayloadBytes}`,
    `ports_file_dir: ${quote(portsFolder)}`,
    ...(token === undefined ? [] : [`authorization: { token: ${quote(token)} }`]),
  ];
  return `${lines.join('\n')}\n`;
}
