// Run as a process of its own: starts four engines at once, steps each and closes them, again and again.
import { silentLogger } from '../../../../core/log.ts';
import { SystemClock } from '../../../../core/system-clock.ts';
import { createOnnxEngine } from '../../../../engine/onnx/index.ts';

const [modelDir = '', rounds = '1'] = process.argv.slice(2);
const sampling = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 };
let steps = 0;

async function useOnce(modelId: number): Promise<void> {
  const engine = createOnnxEngine(
    { modelDir, modelId, loadFormat: 'auto', quantization: 'none', numThreads: 2, maxNumSeqs: 8 },
    { logger: silentLogger, clock: new SystemClock() },
  );
  await engine.start();
  await new Promise<void>((resolve) => {
    engine.step(
      { rows: [{ seq: 1, past: 0, tokens: [1, 2], sample: true, sampling }], needs: {} },
      (outcome) => {
        if (outcome.ok) steps += 1;
        resolve();
      },
    );
  });
  await engine.close();
}

for (let round = 0; round < Number(rounds); round += 1) await Promise.all([1, 2, 3, 4].map(useOnce));
process.stdout.write(`${steps} steps\n`);
