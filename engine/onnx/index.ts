import type { Engine } from '../engine.ts';
import { startEngineWorker } from './engine-worker.ts';
import { OnnxEngine, type OnnxEngineDeps } from './onnx-engine.ts';
import { resolveOptions, type OnnxEngineOptions } from './options.ts';

export { OfflineHeads, type KnownRow } from './heads/offline-heads.ts';
export { checkHeads } from './check-heads.ts';
export type { OnnxEngineDeps, OnnxEngineOptions };

/**
 * An engine that runs a Hugging Face checkpoint (dense Llama, Qwen2, Qwen3) with ONNX Runtime on the CPU, in a
 * worker thread of its own.
 * @throws TokenrailError `config_invalid` naming a wrong option; a wrong checkpoint shows at `start`
 */
export function createOnnxEngine(options: OnnxEngineOptions, deps: OnnxEngineDeps): Engine {
  const resolved = resolveOptions(options);
  return new OnnxEngine(() => startEngineWorker(resolved), deps);
}
