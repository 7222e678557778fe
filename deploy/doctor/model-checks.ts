import { silentLogger } from '../../core/log.ts';
import { SystemClock } from '../../core/system-clock.ts';
import type { Engine, StepOutcome } from '../../engine/engine.ts';
import { createOnnxEngine } from '../../engine/onnx/index.ts';
import { readCheckpointFacts } from '../checkpoint-facts.ts';
import { formatBytes, formatCount } from '../cli/format.ts';
import { weightBytes } from '../config/models.ts';
import type { ResolvedModel } from '../config/models.ts';
import { loadRouters } from '../load-routers.ts';
import { checkVocabularies } from '../vocabulary-check.ts';
import { ok } from './check.ts';
import type { Check } from './check.ts';

const greedy = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 };

/** The files of one model are there and can be read. */
export function checkpointCheck(model: ResolvedModel): Check {
  return {
    name: `model ${model.name}`,
    fix: `put a Hugging Face checkpoint (config.json, *.safetensors, tokenizer.json) into ${model.path}, or name another folder in models`,
    run: () => {
      const { architecture, vocabSize } = readCheckpointFacts(model.path);
      const bytes = weightBytes(model.path);
      if (model.loadFormat === 'dummy')
        return ok(`${architecture}, random weights, vocabulary of ${vocabSize}`);
      if (bytes === 0) throw new Error(`${model.path} has no .safetensors file`);
      return ok(`${architecture}, ${formatBytes(bytes)} of weights, vocabulary of ${vocabSize}`);
    },
  };
}

export const vocabularyCheck: Check = {
  name: 'vocabularies',
  fix: 'use models that share one tokenizer',
  run: ({ models }) => {
    const { maskIdsFrom } = checkVocabularies(models);
    return ok(`${models.map(({ name }) => name).join(' and ')} share ${maskIdsFrom} ids`);
  },
};

export const routerCheck: Check = {
  name: 'routers',
  fix: 'correct the entry of the router in the configuration',
  run: async (resolved) => {
    for (const { id } of resolved.models) await loadRouters(resolved, id);
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
  fix: 'run "npm ci" again; if it stays, the processor or operating system may lack what ONNX Runtime needs',
  run: async ({ models }) => {
    const sized = models.map((model) => ({ model, bytes: weightBytes(model.path) }));
    const usable = sized.filter(({ model, bytes }) => bytes > 0 || model.loadFormat === 'dummy');
    const smallest = usable.sort((a, b) => a.bytes - b.bytes)[0];
    if (smallest === undefined) throw new Error('no configured model has weights to try it with');
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
