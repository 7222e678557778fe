import { createHash, timingSafeEqual } from 'node:crypto';

/** What clients must present in CONNECT: a token, or user and password. Nothing set = everybody may come. */
export interface BrokerCredentials {
  token?: string;
  user?: string;
  pass?: string;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests in constant time: neither the first difference nor the length shows in the time taken. */
function isSame(presented: unknown, expected: string): boolean {
  return timingSafeEqual(digest(typeof presented === 'string' ? presented : ''), digest(expected));
}

export function areRequired(credentials: BrokerCredentials): boolean {
  return credentials.token !== undefined || credentials.user !== undefined;
}

/** Whether the options of a CONNECT hold the expected credentials. */
export function areAccepted(
  credentials: BrokerCredentials,
  connect: Readonly<Record<string, unknown>>,
): boolean {
  if (credentials.token !== undefined) return isSame(connect['auth_token'], credentials.token);
  if (credentials.user === undefined) return true;
  const isUser = isSame(connect['user'], credentials.user);
  const isPass = isSame(connect['pass'], credentials.pass ?? '');
  return isUser && isPass;
}
