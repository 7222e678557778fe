import type { ClientCommand, ProtocolErrorText } from './protocol.ts';

/** A PUB or HPUB line; `sizeBytes` counts headers and payload, `headerBytes` is 0 for PUB. */
export interface PublishHead {
  subject: string;
  reply: string;
  headerBytes: number;
  sizeBytes: number;
}

export type ControlLine =
  { publish: PublishHead } | { command: ClientCommand } | { error: ProtocolErrorText };

const MALFORMED: ControlLine = { error: 'Parser Error' };

/** A non-negative decimal of at most 10 digits, as the protocol writes sizes and counts. */
function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

function parsePublish(args: readonly string[], withHeaders: boolean): ControlLine {
  const counts = withHeaders ? 2 : 1;
  const names = args.slice(0, args.length - counts);
  const [subject, reply = ''] = names;
  const sizeBytes = parseCount(args[args.length - 1]);
  const headerBytes = withHeaders ? parseCount(args[args.length - 2]) : 0;
  if (subject === undefined || names.length > 2 || sizeBytes === undefined || headerBytes === undefined)
    return MALFORMED;
  if (headerBytes > sizeBytes) return MALFORMED;
  return { publish: { subject, reply, headerBytes, sizeBytes } };
}

function parseSub(args: readonly string[]): ControlLine {
  const subject = args[0];
  const sid = args[args.length - 1];
  if (subject === undefined || sid === undefined || args.length < 2 || args.length > 3) return MALFORMED;
  return { command: { verb: 'SUB', subject, queue: args.length === 3 ? (args[1] ?? '') : '', sid } };
}

function parseUnsub(args: readonly string[]): ControlLine {
  const [sid, maxText] = args;
  const max = maxText === undefined ? 0 : parseCount(maxText);
  if (sid === undefined || max === undefined || args.length > 2) return MALFORMED;
  return { command: { verb: 'UNSUB', sid, max } };
}

/** Parses one line without its CRLF. */
export function parseControlLine(line: Buffer): ControlLine {
  const text = line.toString('latin1');
  const space = text.search(/[ \t]/);
  const verb = (space === -1 ? text : text.slice(0, space)).toUpperCase();
  const rest = space === -1 ? '' : text.slice(space + 1);
  const args = (): string[] => rest.split(/[ \t]+/).filter((arg) => arg !== '');
  switch (verb) {
    case 'PUB':
      return parsePublish(args(), false);
    case 'HPUB':
      return parsePublish(args(), true);
    case 'SUB':
      return parseSub(args());
    case 'UNSUB':
      return parseUnsub(args());
    case 'PING':
      return { command: { verb: 'PING' } };
    case 'PONG':
      return { command: { verb: 'PONG' } };
    case 'CONNECT':
      return { command: { verb: 'CONNECT', json: line.subarray(verb.length).toString('utf8').trim() } };
    default:
      return { error: 'Unknown Protocol Operation' };
  }
}
