import type { ResolvedConfig } from './config/deployment.ts';
import { readCheckpointFacts } from './checkpoint-facts.ts';
import { loadRouters } from './load-routers.ts';
import { checkVocabularies } from './vocabulary-check.ts';
import type { SharedVocabulary } from './vocabulary-check.ts';

/**
 * Everything that can be refused before a model is loaded: checkpoints that are not there, vocabularies that
 * differ, routers that do not load.
 * @throws TokenrailError `config_invalid`, `checkpoint_invalid`
 */
export async function checkDeployment(resolved: ResolvedConfig): Promise<SharedVocabulary> {
  for (const model of resolved.models) readCheckpointFacts(model.path);
  const vocabulary = checkVocabularies(resolved.models);
  for (const model of resolved.models) await loadRouters(resolved, model.id);
  return vocabulary;
}
