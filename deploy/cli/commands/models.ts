import type { Command } from 'commander';
import { readCheckpointFacts } from '../../checkpoint-facts.ts';
import { weightBytes } from '../../config/models.ts';
import type { ResolvedModel } from '../../config/models.ts';
import { configOf } from '../config-options.ts';
import { formatBytes } from '../format.ts';

function factsOf(model: ResolvedModel): Record<string, unknown> {
  const facts = readCheckpointFacts(model.path);
  return {
    id: model.id,
    name: model.name,
    path: model.path,
    architecture: facts.architecture,
    vocabSize: facts.vocabSize,
    maxModelLen: model.maxModelLenTokens ?? facts.maxPositions,
    weightBytes: weightBytes(model.path),
    engine: model.engine,
    hasRandomWeights: model.loadFormat === 'dummy',
    quantization: model.quantization,
    replicas: model.numReplicas,
    threads: model.numThreads,
  };
}

function weightsLabel({ engine, loadFormat, path }: ResolvedModel): string {
  if (engine === 'simulated') return 'SIMULATED';
  if (loadFormat === 'dummy') return 'RANDOM WEIGHTS';
  const bytes = weightBytes(path);
  return bytes === 0 ? 'NO WEIGHTS (no .safetensors file)' : formatBytes(bytes);
}

/** `tokenrail models` */
export async function models(command: Command): Promise<void> {
  const { models: configured, deployment } = configOf(command);
  if (command.opts<{ json?: boolean }>().json === true) {
    process.stdout.write(`${JSON.stringify(configured.map(factsOf), null, 2)}\n`);
    return;
  }
  for (const model of configured) {
    const facts = readCheckpointFacts(model.path);
    const labels = [
      ...(model.id === deployment.home ? ['home'] : []),
      weightsLabel(model),
      ...(model.quantization === 'int4' ? ['int4'] : []),
    ];
    const line = `${model.id}  ${model.name}  ${facts.architecture}, ${labels.join(', ')}`;
    process.stdout.write(`${line}\n   ${model.path}\n`);
  }
  return Promise.resolve();
}
