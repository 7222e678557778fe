import type { Clock } from '../../core/clock.ts';
import type { Deployment } from '../../core/deployment.ts';
import { TokenrailError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { RandomSource } from '../../core/random.ts';
import type { SamplingParams } from '../../core/request.ts';
import type { Bus } from '../../transport/bus.ts';

/** How tokens are drawn where a request says nothing; from the checkpoint's generation_config. */
export type DefaultSampling = Omit<SamplingParams, 'seed'>;

/** What a gateway is told. Durations in milliseconds, sizes in bytes or tokens. */
export interface GatewayOptions {
  /** Id of this gateway on the bus, unique in the deployment; never shown to clients. */
  id: string;
  deployment: Deployment;
  /** Hash of what all processes agree on; replicas with another one do not count as ready. */
  configHash: string;
  /** Names clients may ask for; the first is the canonical one. */
  servedModelNames: readonly string[];
  /** Directory with tokenizer.json, tokenizer_config.json and perhaps chat_template.jinja. */
  tokenizerDir: string;
  /** Token ids that end an answer: the union over the models of the deployment. */
  eosIds: readonly number[];
  defaultSampling: DefaultSampling;
  /** Default `127.0.0.1`. */
  host?: string;
  /** Default 8000; 0 = any free port. */
  port?: number;
  /** Accepted Bearer keys; empty (default) = everybody may ask. */
  apiKeys?: readonly string[];
  /** Requests in work at once; default 256. */
  maxInflight?: number;
  /** Requests waiting for a place beyond those; default 256. Above: 429 at once. */
  maxQueue?: number;
  /** Sent as Retry-After with 429 and 503; default 1. */
  retryAfterSeconds?: number;
  /** Largest request body, HTTP and NATS alike; default 1 MiB. */
  bodyLimitBytes?: number;
  /** A request that takes longer, queueing included, ends with `deadline_exceeded`; default none. */
  deadlineMs?: number;
  /** Silence on a stream after which a comment line is sent; default 15 s. */
  keepAliveMs?: number;
  /** Answer to an Admit awaited this long before it is sent again; default 2 s. */
  admitTimeoutMs?: number;
  /** Silence of the home after which it is probed; default 2 s. */
  idleProbeMs?: number;
  /** Wait for the home's Finish after a stop string was found here; default 500 ms. */
  stopWaitMs?: number;
  /** Age at which a heartbeat no longer counts; default 2 s. */
  heartbeatStaleMs?: number;
  /** A step in flight for longer means a hung engine; default 10 s. */
  stepHungMs?: number;
  /** Bound on prompt plus answer, below what the replicas announce; default theirs. */
  maxModelLenTokens?: number;
  /** Unsent bytes of one stream above which its reader counts as gone; default 1 MiB. */
  maxStreamBufferBytes?: number;
}

/** What a gateway is given to work with. */
export interface GatewayDeps {
  bus: Bus;
  clock: Clock;
  logger: Logger;
  random: RandomSource;
}

type Optional = 'deadlineMs' | 'maxModelLenTokens';

/** {@link GatewayOptions} with the defaults filled in. */
export type GatewaySettings = Required<Omit<GatewayOptions, Optional>> & Pick<GatewayOptions, Optional>;

const DEFAULTS = {
  host: '127.0.0.1',
  port: 8000,
  apiKeys: [] as readonly string[],
  maxInflight: 256,
  maxQueue: 256,
  retryAfterSeconds: 1,
  bodyLimitBytes: 1_048_576,
  keepAliveMs: 15_000,
  admitTimeoutMs: 2_000,
  idleProbeMs: 2_000,
  stopWaitMs: 500,
  heartbeatStaleMs: 2_000,
  stepHungMs: 10_000,
  maxStreamBufferBytes: 1_048_576,
} as const;

/**
 * Fills in the defaults.
 * @throws TokenrailError `config_invalid` naming the option
 */
export function resolveGatewayOptions(options: GatewayOptions): GatewaySettings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings = { ...DEFAULTS, ...given } as GatewaySettings;
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === 'number' && (!Number.isFinite(value) || value < 0))
      throw bad(name, 'must be a number ≥ 0');
  }
  for (const name of [
    'maxInflight',
    'bodyLimitBytes',
    'keepAliveMs',
    'admitTimeoutMs',
    'idleProbeMs',
  ] as const) {
    if (settings[name] <= 0) throw bad(name, 'must be greater than 0');
  }
  if (settings.servedModelNames.length === 0) throw bad('servedModelNames', 'needs at least one name');
  if (settings.servedModelNames.some((name) => name === ''))
    throw bad('servedModelNames', 'must not hold an empty name');
  if (settings.apiKeys.some((key) => key === '')) throw bad('apiKeys', 'must not hold an empty key');
  return settings;
}

function bad(name: string, why: string): TokenrailError {
  return new TokenrailError('config_invalid', `gateway option ${name} ${why}`, { param: name });
}
