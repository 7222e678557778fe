// tokenrail bench heads (npm run bench:heads): what the routers' networks add to a step of the small model.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HeadSpec } from '../engine/engine.ts';
import { readModelConfig } from '../engine/onnx/checkpoint/read-config.ts';
import { measureHeads, type HeadCost, type HeadSettings } from './heads/measure.ts';
import type { Scale } from './heads/scales.ts';
import { readSettings, USAGE, type HeadsSettings } from './heads/settings.ts';
import { writeRandomHead, type HeadKind } from './lib/random-head-file.ts';

const MAX_SHARE_PERCENT = 10;

function headsOf({ modelDir, classifiers }: Scale, dir: string): Map<string, HeadSpec> {
  const { hiddenSize } = readModelConfig(modelDir);
  const heads = new Map<string, HeadSpec>();
  const add = (name: string, kind: HeadKind, widths?: readonly number[]): void => {
    const size = { hiddenSize, seed: heads.size, ...(widths === undefined ? {} : { widths }) };
    heads.set(name, { file: writeRandomHead(join(dir, `${heads.size}.safetensors`), kind, size) });
  };
  add('co-llm', 'co-llm');
  add('citer', 'citer');
  for (const [name, widths] of classifiers) add(name, 'r2r', widths);
  return heads;
}

function measure(
  scale: Scale,
  quantization: HeadSettings['quantization'],
  sizes: HeadsSettings['sizes'],
): HeadCost[] {
  const dir = mkdtempSync(join(tmpdir(), 'tokenrail-bench-heads-'));
  try {
    const { modelDir, loadFormat } = scale;
    return measureHeads({ modelDir, loadFormat, quantization, ...sizes }, headsOf(scale, dir));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const isOver = ({ isBounded }: Scale, { name, sharePercent }: HeadCost): boolean =>
  isBounded && !name.startsWith('r2r') && sharePercent > MAX_SHARE_PERCENT;

function line(scale: Scale, cost: HeadCost): string {
  const { name, headMs, insidePercent, sharePercent, lowPercent, highPercent } = cost;
  const inside = `${headMs.toFixed(3).padStart(8)} ms ${insidePercent.toFixed(1).padStart(5)} %`;
  const share = `${sharePercent.toFixed(1).padStart(6)} %  [${lowPercent.toFixed(1)}, ${highPercent.toFixed(1)}]`;
  const isBounded = scale.isBounded && !name.startsWith('r2r');
  const verdict = isBounded ? `≤ ${MAX_SHARE_PERCENT} %  ${isOver(scale, cost) ? 'FAIL' : 'pass'}` : '';
  return `  ${name.padEnd(36)} ${inside}  step ${share.padEnd(28)} ${verdict}`.trimEnd();
}

/** Runs the measurement of a command line. @returns the exit code: 1 if a network takes more than it may */
export async function heads(args: readonly string[]): Promise<number> {
  const settings = readSettings(args);
  if (settings === undefined) {
    process.stdout.write(USAGE);
    return 0;
  }
  let isFine = true;
  const results: object[] = [];
  for (const scale of settings.scales) {
    for (const quantization of settings.quantizations) {
      const costs = measure(scale, quantization, settings.sizes);
      isFine &&= !costs.some((cost) => isOver(scale, cost));
      results.push({ model: scale.key, quantization, hasRandomHeads: true, costs });
      if (settings.json) continue;
      const format = quantization === 'int4' ? 'int4' : 'float32';
      const step = `a step of ${settings.sizes.rows} rows: ${costs[0]?.stepMs.toFixed(2)} ms`;
      process.stdout.write(`${scale.label}, ${format}, networks with random weights; ${step}\n`);
      for (const cost of costs) process.stdout.write(`${line(scale, cost)}\n`);
    }
  }
  if (settings.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  return Promise.resolve(isFine ? 0 : 1);
}
