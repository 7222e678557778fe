import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RouterEntry } from '../../core/deployment.ts';
import { ARCHITECTURE, writeHeadFile } from './head-files.ts';
import { wordModel } from './scripted-words.ts';
import type { ScriptedModel } from './chain-engine.ts';

export interface ScriptedAlgorithm {
  name: string;
  router: RouterEntry;
  /** Home first. */
  models: ScriptedModel[];
}

/** Every algorithm on scripted models. The files of their heads say what they are and hold no tensors. */
export class ScriptedAlgorithms {
  readonly all: readonly ScriptedAlgorithm[];
  private readonly dir = mkdtempSync(join(tmpdir(), 'tokenrail-heads-'));

  constructor() {
    const pair = [wordModel(1), wordModel(2)];
    const [classifier, mlp, linear] = (['classifier', 'mlp', 'linear'] as const).map((kind) =>
      this.head(kind),
    );
    const two = (name: string, use: string, options: Record<string, unknown>): ScriptedAlgorithm => ({
      name,
      router: { id: name, use, options },
      models: pair,
    });
    this.all = [
      two('r-stitch', 'r-stitch', { threshold: 0.75 }),
      two('r2r', 'r2r', { head: classifier, threshold: 0.6 }),
      two('citer', 'citer', { head: mlp, threshold: 0.4 }),
      two('co-llm', 'co-llm', { head: linear, threshold: 0.6 }),
      two('co-llm-compose', 'co-llm', { head: linear, threshold: 0.6, strategy: 'compose' }),
      {
        ...two('co-llm-token', 'co-llm', {
          deferToken: 24,
          threshold: 0.95,
          strategy: 'compose',
        }),
        models: [wordModel(1, 24, 1), wordModel(2)],
      },
      {
        name: 'ensemble',
        router: { id: 'ensemble', use: 'ensemble', options: { weights: { m1: 0.5, m2: 0.3, m3: 0.2 } } },
        models: [wordModel(1), wordModel(2), wordModel(3)],
      },
    ];
  }

  /** A head's file without tensors: enough for routers. */
  head(kind: keyof typeof ARCHITECTURE, metadata: Record<string, string> = {}): string {
    const path = join(this.dir, `${kind}-${Object.values(metadata).join('-')}.safetensors`);
    return writeHeadFile(path, new Map(), { architecture: ARCHITECTURE[kind], ...metadata });
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
