import type { TokenrailError } from '../../core/errors.ts';
import type { PeerReq, Reject } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';
import type { LiveRequest } from './live-request.ts';

/** guest → home: the request cannot go on here. */
export function postReject(context: SubserverContext, request: LiveRequest, error: TokenrailError): void {
  const { home } = request;
  const subject = context.subjects.replica(context.modelName(home.model), home.replica);
  context.outbox.post(subject, reject(context, request, error));
}

/** The answer to a first contact that is not taken. */
export function postRefusal(
  context: SubserverContext,
  message: Pick<PeerReq, 'rid' | 'term' | 'hop'>,
  subject: string,
  error: TokenrailError,
): void {
  context.counters.add('requests_rejected');
  postVoid(context, message, subject, error);
}

/** The answer to a handoff that means nothing here any more; no request was refused by it. */
export function postVoid(
  context: SubserverContext,
  message: Pick<PeerReq, 'rid' | 'term' | 'hop'>,
  subject: string,
  error: TokenrailError,
): void {
  context.outbox.post(subject, reject(context, message, error));
}

function reject(
  context: SubserverContext,
  about: { rid: string; term: number; hop: number },
  error: TokenrailError,
): Reject {
  return {
    kind: 'reject',
    rid: about.rid,
    term: about.term,
    hop: about.hop,
    model: context.options.self,
    replica: context.options.replica,
    code: error.code,
    message: error.message,
    retryable: error.retryable,
  };
}
