import type { Subjects } from '../../../transport/subjects.ts';

const MAX_CHARS = 256;

/**
 * Whether answers may be published to a subject a client named. Ours are refused, client inboxes excepted: a
 * client must not make the gateway speak to subservers on its behalf. So are the server's own (`$…`).
 */
export function isClientReply(reply: string, subjects: Subjects): boolean {
  if (reply === '' || reply.length > MAX_CHARS || reply.startsWith('$')) return false;
  // Wildcards and empty tokens: accepted by clients, delivered to nobody.
  if (reply.split('.').some((token) => token === '' || /[*>\s]/.test(token))) return false;
  const ourPrefix = subjects.requests().slice(0, subjects.requests().lastIndexOf('.') + 1);
  const clientPrefix = subjects.inbox('client', '', '').replace(/\.*$/, '.');
  return !reply.startsWith(ourPrefix) || reply.startsWith(clientPrefix);
}
