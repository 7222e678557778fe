/** Where a server is, and the credentials its URL may carry (`nats://token@host` or `nats://user:pass@host`). */
export interface ServerAddress {
  host: string;
  port: number;
  token?: string;
  user?: string;
  pass?: string;
}

const DEFAULT_PORT = 4222;

/** Parses `nats://host:port`, `host:port` or `host`; undefined when it is none of them. */
export function parseServerAddress(url: string): ServerAddress | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url.includes('://') ? url : `nats://${url}`);
  } catch {
    return undefined;
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  if (host === '' || (parsed.protocol !== 'nats:' && parsed.protocol !== 'tls:')) return undefined;
  const address: ServerAddress = { host, port: parsed.port === '' ? DEFAULT_PORT : Number(parsed.port) };
  const name = decodeURIComponent(parsed.username);
  if (parsed.password !== '') return { ...address, user: name, pass: decodeURIComponent(parsed.password) };
  return name === '' ? address : { ...address, token: name };
}

/** `host:port`, without credentials: safe to print. */
export function printableAddress({ host, port }: ServerAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
