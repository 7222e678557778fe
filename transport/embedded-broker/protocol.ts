/** Facts of the NATS client protocol that the parts of the broker share. */

/** Name in INFO; the bus recognises the broker by it. */
export const EMBEDDED_BROKER_NAME = 'tokenrail-embedded';

/** Protocol level announced to clients: everything of core NATS 2.9 that is offered here. */
export const PROTOCOL_LEVEL_VERSION = '2.9.0';

export const DEFAULT_MAX_PAYLOAD_BYTES = 1024 * 1024;

/** Longest control line, CRLF excluded; the same as nats-server's default. */
export const MAX_CONTROL_LINE_BYTES = 4096;

export const CRLF = Buffer.from('\r\n');
export const PING = Buffer.from('PING\r\n');
export const PONG = Buffer.from('PONG\r\n');
export const OK = Buffer.from('+OK\r\n');

/** Headers of the message that says "nobody listens there". */
export const NO_RESPONDERS_HEADERS = Buffer.from('NATS/1.0 503\r\n\r\n');

/** What a client sends, after parsing. Subjects hold the wire's bytes one by one (latin1), so any encoding passes through. */
export type ClientCommand =
  | { verb: 'PUB'; subject: string; reply: string; headerBytes: number; body: Buffer }
  | { verb: 'SUB'; subject: string; queue: string; sid: string }
  | { verb: 'UNSUB'; sid: string; max: number }
  | { verb: 'CONNECT'; json: string }
  | { verb: 'PING' }
  | { verb: 'PONG' };

/** The texts after -ERR that clients know. */
export type ProtocolErrorText =
  | 'Unknown Protocol Operation'
  | 'Parser Error'
  | 'Maximum Control Line Exceeded'
  | 'Maximum Payload Violation'
  | 'Invalid Subject'
  | 'Invalid Publish Subject'
  | 'Authorization Violation'
  | 'Authentication Timeout'
  | 'Stale Connection'
  | 'Slow Consumer'
  | 'Message Headers Not Supported'
  | 'maximum subscriptions exceeded'
  | 'maximum connections exceeded';
