import type { Clock } from '../../../core/clock.ts';
import type { Deployment } from '../../../core/deployment.ts';
import type { GenerationPlan } from '../generation-plan.ts';
import type { GenerationRequest } from '../generation-request.ts';
import type { AnswerFormat, AnswerHead } from './answer-format.ts';
import { ChatFormat } from './chat-format.ts';
import { CompletionFormat } from './completion-format.ts';

/** The format of a request's endpoint. The answer's id carries the request's own, so that logs can be searched for it. */
export function formatFor(
  request: GenerationRequest,
  plan: GenerationPlan,
  deployment: Deployment,
  clock: Clock,
): AnswerFormat {
  const suffix = plan.rid.slice(plan.rid.indexOf('-') + 1);
  const head: AnswerHead = {
    id: request.kind === 'chat' ? `chatcmpl-${suffix}` : `cmpl-${suffix}`,
    created: Math.floor(clock.epochMs() / 1000),
    model: request.model,
    promptIds: plan.promptIds,
    deployment,
    returnTokenIds: request.returnTokenIds,
    includeUsage: request.stream && request.includeUsage,
  };
  return request.kind === 'chat' ? new ChatFormat(head) : new CompletionFormat(head);
}
