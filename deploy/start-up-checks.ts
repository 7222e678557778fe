import type { ResolvedConfig } from './config/deployment.ts';
import { checkRouterHeads } from './check-router-heads.ts';
import { readCheckpointFacts } from './checkpoint-facts.ts';
import { loadRouters } from './load-routers.ts';
import { checkVocabularies } from './vocabulary-check.ts';
import type { SharedVocabulary } from './vocabulary-check.ts';

/**
 * Everything that can be refused before a model is loaded: checkpoints that are not there, vocabularies that
 * differ, routers that do not load, networks that do not fit their model.
 * @throws TokenrailError `config_invalid`, `checkpoint_invalid`
 */
export async function checkDeployment(resolved: ResolvedConfig): Promise<SharedVocabulary> {
  for (const model of resolved.models) readCheckpointFacts(model.path);
  const vocabulary = checkVocabularies(resolved.models);
  await checkRouters(resolved, vocabulary.maskIdsFrom);
  return vocabulary;
}

/**
 * Routers that do not load, and networks that do not fit their model, are refused.
 * @throws TokenrailError `config_invalid` naming the router
 */
export async function checkRouters(resolved: ResolvedConfig, maskIdsFrom: number): Promise<void> {
  for (const model of resolved.models)
    await checkRouterHeads(model, await loadRouters(resolved, model.id), maskIdsFrom);
}
