import { ErrorCode, NatsError } from 'nats';
import { TokenrailError, toTokenrailError, type ErrorCode as TokenrailCode } from '../core/errors.ts';

/** The one place where codes of the NATS client become ours. */
const CODES: ReadonlyMap<string, TokenrailCode> = new Map<string, TokenrailCode>([
  [ErrorCode.NoResponders, 'no_responders'],
  [ErrorCode.Timeout, 'bus_timeout'],
  [ErrorCode.MaxPayloadExceeded, 'payload_over_bus_limit'],
  [ErrorCode.BadSubject, 'illegal_state'],
  [ErrorCode.BadHeader, 'illegal_state'],
  [ErrorCode.BadPayload, 'illegal_state'],
  [ErrorCode.InvalidOption, 'illegal_state'],
]);

/** Codes that say the server refuses our credentials: trying again changes nothing. */
const REFUSALS: ReadonlySet<string> = new Set([
  ErrorCode.AuthorizationViolation,
  ErrorCode.AuthenticationExpired,
  ErrorCode.AccountExpired,
  ErrorCode.BadAuthentication,
  ErrorCode.BadCreds,
]);

/** Everything else the client reports (refused, closed, draining, disconnected …) is an unavailable bus. */
export function toBusError(thrown: unknown, doing: string): TokenrailError {
  if (!(thrown instanceof NatsError)) return toTokenrailError(thrown, 'bus_unavailable');
  const code = CODES.get(thrown.code) ?? 'bus_unavailable';
  return new TokenrailError(code, `${doing}: ${thrown.message}`, { cause: thrown });
}

export function isCredentialsRefused(thrown: unknown): boolean {
  return thrown instanceof NatsError && REFUSALS.has(thrown.code);
}
