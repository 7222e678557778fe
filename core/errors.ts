/** The `type` of an error object in OpenAI's shape. */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'service_unavailable_error'
  | 'timeout_error'
  | 'server_error';

interface ErrorRow {
  /** Name of the error as it appears in logs. */
  name: string;
  /** HTTP status where the error reaches a client. */
  status: number;
  /** Whether the same request may succeed when sent again later. */
  retryable: boolean;
  type: ErrorType;
  /** One line for docs/errors.md. */
  summary: string;
}

const row = (
  name: string,
  status: number,
  retryable: boolean,
  type: ErrorType,
  summary: string,
): ErrorRow => ({
  name,
  status,
  retryable,
  type,
  summary,
});

/** Every error of tokenrail: stable code, class name, HTTP status, retryable. docs/errors.md lists the same table. */
export const ERROR_TABLE = {
  invalid_request: row(
    'InvalidRequestError',
    400,
    false,
    'invalid_request_error',
    'A field is missing or out of range.',
  ),
  unsupported_parameter: row(
    'UnsupportedParameterError',
    400,
    false,
    'invalid_request_error',
    'A field that is not supported yet; it is never ignored.',
  ),
  context_length_exceeded: row(
    'ContextLengthError',
    400,
    false,
    'invalid_request_error',
    'Prompt and answer do not fit the context or the KV cache.',
  ),
  unauthorized: row(
    'UnauthorizedError',
    401,
    false,
    'authentication_error',
    'The API key is missing or wrong.',
  ),
  model_not_found: row(
    'ModelNotFoundError',
    404,
    false,
    'not_found_error',
    'No model of that name is served.',
  ),
  route_not_found: row('RouteNotFoundError', 404, false, 'not_found_error', 'No such path.'),
  method_not_allowed: row(
    'MethodNotAllowedError',
    405,
    false,
    'invalid_request_error',
    'The path exists, the method does not.',
  ),
  payload_too_large: row(
    'PayloadTooLargeError',
    413,
    false,
    'invalid_request_error',
    'The request exceeds the HTTP body limit or one bus message.',
  ),
  unsupported_media_type: row(
    'UnsupportedMediaTypeError',
    415,
    false,
    'invalid_request_error',
    'The body is not JSON.',
  ),
  overloaded: row(
    'OverloadedError',
    429,
    true,
    'rate_limit_error',
    'All queues are full; Retry-After says when to come again.',
  ),
  cancelled: row('CancelledError', 499, false, 'invalid_request_error', 'The client cancelled or went away.'),
  router_failed: row(
    'RouterFailedError',
    500,
    false,
    'server_error',
    'The router threw or returned a wrong destination; the message names it.',
  ),
  numerical_failure: row(
    'NumericalFailureError',
    500,
    false,
    'server_error',
    'The model produced NaN or infinite logits for this request.',
  ),
  engine_failed: row('EngineFailedError', 500, true, 'server_error', 'The engine of a subserver failed.'),
  protocol_violation: row(
    'ProtocolViolationError',
    500,
    false,
    'server_error',
    'Two subservers disagree about the tokens of a request.',
  ),
  internal: row('InternalError', 500, false, 'server_error', 'A fault of tokenrail itself.'),
  model_unavailable: row(
    'ModelUnavailableError',
    503,
    true,
    'service_unavailable_error',
    'No replica of a needed model answers: starting, gone or hung.',
  ),
  bus_unavailable: row(
    'BusUnavailableError',
    503,
    true,
    'service_unavailable_error',
    'The message bus is not connected.',
  ),
  shutting_down: row(
    'ShuttingDownError',
    503,
    true,
    'service_unavailable_error',
    'The server drains and takes no new requests.',
  ),
  deadline_exceeded: row(
    'DeadlineExceededError',
    504,
    true,
    'timeout_error',
    'The request did not finish within its deadline.',
  ),
  no_responders: row(
    'NoRespondersError',
    503,
    true,
    'service_unavailable_error',
    'Nobody listens on the subject.',
  ),
  bus_timeout: row('BusTimeoutError', 504, true, 'timeout_error', 'A bus request got no answer in time.'),
  payload_over_bus_limit: row(
    'BusPayloadError',
    413,
    false,
    'invalid_request_error',
    'A message exceeds max_payload of the bus.',
  ),
  illegal_state: row(
    'IllegalStateError',
    500,
    false,
    'server_error',
    'An operation was called in a state that forbids it.',
  ),
  config_invalid: row(
    'ConfigError',
    500,
    false,
    'server_error',
    'The configuration is wrong; the message names the key.',
  ),
  checkpoint_invalid: row(
    'CheckpointError',
    500,
    false,
    'server_error',
    'A checkpoint file is missing, short or of an unsupported kind.',
  ),
  port_unavailable: row(
    'PortUnavailableError',
    500,
    false,
    'server_error',
    'A port or address cannot be bound.',
  ),
} as const satisfies Record<string, ErrorRow>;

/** A stable error code. */
export type ErrorCode = keyof typeof ERROR_TABLE;

/** Whether a string from the wire is one of our codes. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_TABLE, value);
}

/** The one error class; `code` decides everything else. Compare codes, never messages. */
export class TokenrailError extends Error {
  readonly code: ErrorCode;
  /** The request field at fault, where there is one. */
  readonly param: string | undefined;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; param?: string } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.param = options.param;
    this.name = ERROR_TABLE[code].name;
  }

  get status(): number {
    return ERROR_TABLE[this.code].status;
  }

  get retryable(): boolean {
    return ERROR_TABLE[this.code].retryable;
  }

  get type(): ErrorType {
    return ERROR_TABLE[this.code].type;
  }
}

/** Turns anything thrown into a {@link TokenrailError}; foreign errors become `fallback` with the cause kept. */
export function toTokenrailError(thrown: unknown, fallback: ErrorCode = 'internal'): TokenrailError {
  if (thrown instanceof TokenrailError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new TokenrailError(fallback, message, { cause: thrown });
}
