import { TokenrailError } from '../../core/errors.ts';
import { silentLogger } from '../../core/log.ts';
import { SystemClock } from '../../core/system-clock.ts';
import type { Engine, StepOutcome } from '../../engine/engine.ts';
import { createOnnxEngine } from '../../engine/onnx/index.ts';
import { readCheckpointFacts } from '../checkpoint-facts.ts';
import { formatBytes, formatCount } from '../cli/format.ts';
import { embeddedModels, weightBytes } from '../config/models.ts';
import type { ResolvedModel } from '../config/models.ts';
import { checkRouters } from '../start-up-checks.ts';
import { checkVocabularies } from '../vocabulary-check.ts';
import { ok } from './check.ts';
import type { Check } from './check.ts';

const greedy = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 };

/** Other checks fail with the files of a model; what they advise would lead astray then. */
const orMendFiles =
  (advice: string) =>
  ({ code }: TokenrailError): string =>
    code === 'checkpoint_invalid' ? 'mend the files of the models first, see above' : advice;

const isEmbedded = ({ path }: ResolvedModel): boolean => embeddedModels.some((model) => model.path === path);

function filesAdvice(model: ResolvedModel): string {
  const restore = isEmbedded(model)
    ? `restore ${model.path}, which belongs to this repository (git checkout -- models)`
    : `put a Hugging Face checkpoint (config.json, *.safetensors, tokenizer.json) into ${model.path}`;
  return `${restore}, or name another folder in models; --load-format dummy does without weights, with answers that are noise`;
}

/** The files of one model are there and can be read. */
export function checkpointCheck(model: ResolvedModel): Check {
  return {
    name: `model ${model.name}`,
    fix: filesAdvice(model),
    run: () => {
      const { architecture, vocabSize } = readCheckpointFacts(model.path);
      const bytes = weightBytes(model.path);
      if (model.engine === 'simulated') return ok(`${architecture}, SIMULATED, vocabulary of ${vocabSize}`);
      if (model.loadFormat === 'dummy')
        return ok(`${architecture}, random weights, vocabulary of ${vocabSize}`);
      if (bytes === 0)
        throw new TokenrailError('checkpoint_invalid', `${model.path} has no .safetensors file`);
      return ok(`${architecture}, ${formatBytes(bytes)} of weights, vocabulary of ${vocabSize}`);
    },
  };
}

export const vocabularyCheck: Check = {
  name: 'vocabularies',
  fix: orMendFiles('use models that share one tokenizer'),
  run: ({ models }) => {
    const { maskIdsFrom } = checkVocabularies(models);
    return ok(`${models.map(({ name }) => name).join(' and ')} share ${maskIdsFrom} ids`);
  },
};

export const routerCheck: Check = {
  name: 'routers',
  fix: orMendFiles('correct the entry of the router in the configuration'),
  run: async (resolved) => {
    await checkRouters(resolved, checkVocabularies(resolved.models).maskIdsFrom);
    return ok(resolved.deployment.routers.map(({ id }) => id).join(', '));
  },
};

function oneStep(engine: Engine): Promise<StepOutcome> {
  const row = { seq: 1, past: 0, tokens: [0, 1], sample: true, sampling: greedy };
  return new Promise((resolve) => engine.step({ rows: [row], needs: {} }, resolve));
}

/** Loads the smallest model and makes one step. */
export const engineCheck: Check = {
  name: 'engine',
  fix: orMendFiles(
    'run "npm ci" again; if it stays, the processor or operating system may lack what ONNX Runtime needs',
  ),
  run: async ({ models: configured }) => {
    const models = configured.filter(({ engine }) => engine === 'onnx');
    if (models.length === 0) return ok('SIMULATED engines only: nothing to load');
    const sized = models.map((model) => ({ model, bytes: weightBytes(model.path) }));
    const usable = sized.filter(({ model, bytes }) => bytes > 0 || model.loadFormat === 'dummy');
    const smallest = usable.sort((a, b) => a.bytes - b.bytes)[0];
    if (smallest === undefined)
      throw new TokenrailError('checkpoint_invalid', 'no configured model has weights to try it with');
    const { model } = smallest;
    const { id, path, loadFormat, quantization } = model;
    const options = { modelDir: path, modelId: id, loadFormat, quantization, numThreads: 1, maxNumSeqs: 1 };
    const engine = createOnnxEngine(options, { logger: silentLogger, clock: new SystemClock() });
    try {
      const info = await engine.start();
      const outcome = await oneStep(engine);
      if (!outcome.ok) throw outcome.error;
      const [row] = outcome.rows;
      if (row?.ok === false) throw new Error(row.message);
      const { runMs } = outcome.timing;
      const facts = [
        `${model.name} with ${formatCount(info.numParameters)} parameters steps in ${runMs.toFixed(1)} ms`,
        ...info.notes,
      ];
      return ok(facts.join('; '));
    } finally {
      await engine.close();
    }
  },
};
