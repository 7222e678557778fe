import type { Deployment } from '../../core/deployment.ts';
import type { ModelId } from '../../core/request.ts';
import type { TokenLog } from './token-log.ts';

/** What a request consumed; the source of the `usage` object and of the metrics. */
export interface Usage {
  promptTokens: number;
  completionTokens: number;
  /** Tokens by model name; models of the deployment that wrote none are listed with 0. */
  tokensByModel: Readonly<Record<string, number>>;
  handoffs: number;
  /** Share of the tokens that the home did not write; 0 for an empty answer. */
  llmRatio: number;
}

/** The name of a model; a number no configuration knows is shown as such. */
export function modelName(deployment: Deployment, id: ModelId): string {
  return deployment.models.find((model) => model.id === id)?.name ?? `model-${id}`;
}

/** Counts from the tokens that reached the client, so that usage and text never disagree. */
export function countUsage(
  deployment: Deployment,
  promptTokens: number,
  log: TokenLog,
  handoffs: number,
): Usage {
  const counts = log.tokensByModel();
  const names = deployment.models.map((model) => [model.name, counts.get(model.id) ?? 0] as const);
  const away = log.length - (counts.get(deployment.home) ?? 0);
  return {
    promptTokens,
    completionTokens: log.length,
    tokensByModel: Object.fromEntries(names),
    handoffs,
    llmRatio: log.length === 0 ? 0 : away / log.length,
  };
}
