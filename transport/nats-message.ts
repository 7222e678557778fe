import { headers as newHeaders, type Msg, type MsgHdrs } from 'nats';
import type { BusMessage } from './bus.ts';

/** Status of the message that the broker sends when nobody listens. */
const NO_RESPONDERS_STATUS = 503;

function toRecord(headers: MsgHdrs): Record<string, string> {
  // fromEntries defines own members: a header named __proto__ stays a member.
  return Object.fromEntries(headers.keys().map((key) => [key, headers.get(key)]));
}

/**
 * The client's message as ours. The payload is a view of the chunk the socket delivered; Node allocates a new
 * one for every read and nobody else gets these bytes, so no copy is needed. A kept payload keeps its chunk
 * (64 KiB at most, or the message itself): decode at once, or copy what is kept.
 * @throws what the client throws on malformed headers
 */
export function toBusMessage(msg: Msg): BusMessage {
  const { headers, data } = msg;
  const isNoResponders = headers?.code === NO_RESPONDERS_STATUS && data.length === 0;
  const message: BusMessage = { subject: msg.subject, payload: data, isNoResponders };
  const reply = msg.reply ?? '';
  if (reply !== '') message.reply = reply;
  if (headers !== undefined) message.headers = toRecord(headers);
  return message;
}

export function toMsgHdrs(record: Readonly<Record<string, string>>): MsgHdrs {
  const headers = newHeaders();
  for (const [key, value] of Object.entries(record)) headers.set(key, value);
  return headers;
}
