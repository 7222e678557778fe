import { TokenrailError } from '../../core/errors.ts';
import type { RandomSource } from '../../core/random.ts';
import type { RequestLimits } from '../../core/request.ts';
import { chosenRouter } from './chosen-router.ts';
import type { Fleet } from './fleet.ts';
import type { GenerationPlan } from './generation-plan.ts';
import type { GenerationRequest } from './generation-request.ts';
import type { GatewaySettings } from './options.ts';
import type { PromptReader } from './prompt-reader.ts';

export interface PlanMakerDeps {
  settings: GatewaySettings;
  random: RandomSource;
  fleet: Fleet;
  prompts: Pick<PromptReader, 'read' | 'answerText'>;
  parse: (kind: 'chat' | 'completion', body: unknown) => GenerationRequest;
}

/** Seeds drawn here: integers a JSON number holds exactly. */
const SEED_RANGE = 2 ** 53;

/** Makes a plan of a request's body: validated, tokenized, with its limits. */
export class PlanMaker {
  private readonly deps: PlanMakerDeps;

  constructor(deps: PlanMakerDeps) {
    this.deps = deps;
  }

  /** @throws TokenrailError for everything that is wrong with the request */
  async make(
    rid: string,
    kind: 'chat' | 'completion',
    body: unknown,
    arrivedAtMs: number,
  ): Promise<{ request: GenerationRequest; plan: GenerationPlan }> {
    const { settings, prompts, random } = this.deps;
    const request = this.deps.parse(kind, body);
    const router = chosenRouter(request, settings.servedModelNames, settings.deployment);
    const contextTokens = this.contextTokens();
    const promptIds = await prompts.read(request.prompt, contextTokens);
    const { deadlineMs } = settings;
    const plan: GenerationPlan = {
      rid,
      promptIds,
      sampling: { ...request.sampling, seed: request.seed ?? Math.floor(random() * SEED_RANGE) },
      limits: this.limits(request, promptIds.length, contextTokens),
      router,
      answer: prompts.answerText(request),
      deadlineAtMs: deadlineMs === undefined ? undefined : arrivedAtMs + deadlineMs,
    };
    return { request, plan };
  }

  /** Every model of the deployment must hold prompt and answer. */
  private contextTokens(): number {
    const announced = this.deps.fleet.maxModelLenTokens();
    const configured = this.deps.settings.maxModelLenTokens;
    if (announced !== undefined || configured !== undefined)
      return Math.min(announced ?? Infinity, configured ?? Infinity);
    throw new TokenrailError(
      'model_unavailable',
      'No replica of a model was heard of yet: they may still be loading.',
    );
  }

  private limits(request: GenerationRequest, promptTokens: number, contextTokens: number): RequestLimits {
    const maxTokens = request.maxTokens ?? contextTokens - promptTokens;
    if (promptTokens + Math.max(1, maxTokens) > contextTokens) {
      throw contextExceeded(request, promptTokens, request.maxTokens, contextTokens);
    }
    const eosIds = request.ignoreEos ? [] : this.deps.settings.eosIds;
    return { maxTokens, stopIds: [...new Set([...eosIds, ...request.stopTokenIds])] };
  }
}

function contextExceeded(
  request: GenerationRequest,
  promptTokens: number,
  maxTokens: number | undefined,
  contextTokens: number,
): TokenrailError {
  const part = request.kind === 'chat' ? 'messages' : 'prompt';
  const wanted =
    maxTokens === undefined
      ? `your ${part} resulted in ${promptTokens} tokens, which leaves no room for an answer`
      : `you requested ${promptTokens + maxTokens} tokens (${promptTokens} in the ${part}, ${maxTokens} in the completion)`;
  const message = `This model's maximum context length is ${contextTokens} tokens. However, ${wanted}. Please reduce the length of the ${part} or the completion.`;
  return new TokenrailError('context_length_exceeded', message, { param: part });
}
