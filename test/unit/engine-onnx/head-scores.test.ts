import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HeadSpec, SignalNeeds } from '../../../engine/engine.ts';
import { checkBatch } from '../../../engine/onnx/step-validation.ts';
import {
  ARCHITECTURE,
  classifierTensors,
  linearHeadTensors,
  mlpTensors,
  writeHeadFile,
  type HeadTensors,
  type Values,
} from '../../helpers/head-files.ts';
import { RandomHeads } from '../../helpers/random-heads.ts';
import { classifierScore, linearScore, mlpScore } from '../../helpers/reference-heads.ts';
import { scratchDir } from './helpers/checkpoints.ts';
import { openCore, rowOf, sampled } from './helpers/core.ts';
import { engineOf, rejection, rowsOf } from './helpers/engine.ts';
import { loadGolden } from './helpers/golden.ts';

const golden = loadGolden('embedded-small');
const { modelDir, hiddenSize, vocabSize, sequences } = golden;
const random = new RandomHeads(5);
const nets = {
  classifier: random.classifier(hiddenSize, 100, [64, 48, 48]),
  mlp: random.mlp(hiddenSize),
  linear: random.vector(hiddenSize, 0.2),
};

const written = (tensors: HeadTensors, metadata: Record<string, string>): HeadSpec => ({
  file: writeHeadFile(join(scratchDir(), 'head.safetensors'), tensors, metadata),
});
const writtenAll = (): [HeadSpec, HeadSpec, HeadSpec] => [
  written(classifierTensors(nets.classifier), {
    architecture: ARCHITECTURE.classifier,
    vocab_size: String(vocabSize),
  }),
  written(mlpTensors(nets.mlp), { architecture: ARCHITECTURE.mlp }),
  written(linearHeadTensors(nets.linear, -0.3), { architecture: ARCHITECTURE.linear }),
];

describe('heads beside a model', () => {
  it.each([false, true])(
    'score what the references score, within 1e-5 (keys and values copied: %s)',
    (copied) => {
      const heads = writtenAll();
      const core = openCore(modelDir, { needs: { topK: 2, heads } });
      const needs = { heads, topK: 64, hidden: true, embedding: true, logits: true };
      if (copied)
        (core as unknown as { model: { runner: { kvPath: string } } }).model.runner.kvPath = 'copied';
      const batch = sequences.map(({ ids }, i) => rowOf(i, 0, ids));
      const { rows, timing } = core.step(batch, needs);
      for (const row of rows.map(sampled)) {
        const [hidden, embedding] = [[...(row.hidden ?? [])], [...(row.embedding ?? [])]];
        const top = [...(row.logits ?? [])].sort((a, b) => b - a).slice(0, 100);
        const wanted = [
          classifierScore(nets.classifier, hidden, embedding, top),
          mlpScore(nets.mlp, hidden),
          linearScore(nets.linear, -0.3, hidden),
        ];
        heads.forEach(({ file }, i) =>
          expect(Math.abs((row.scores?.[file] ?? NaN) - (wanted[i] ?? NaN))).toBeLessThan(1e-5),
        );
      }
      expect(timing.headMs).toBeGreaterThan(0);
      expect(timing.runMs).toBeGreaterThanOrEqual(timing.headMs ?? Infinity);
    },
  );

  it('score each row as if it were alone, whatever fails, waits or runs beside it', () => {
    const heads = writtenAll();
    const core = openCore(modelDir, { needs: { heads } });
    const prompts = [[5, 6, 7], [9, 10, 11, 12], [20]] as const;
    const alone = prompts.map((ids, i) => sampled(core.step([rowOf(i, 0, ids)], { heads }).rows[0]));
    const [first, second, third] = prompts;
    const { rows } = core.step(
      [
        rowOf(10, 0, first),
        rowOf(11, 0, second.slice(0, 2), { sample: false }),
        rowOf(12, 0, third),
        rowOf(13, 0, second),
      ],
      { heads },
    );
    expect(sampled(rows[1]).scores).toBeUndefined();
    [0, 2, 3].forEach((index, i) => {
      const [together, by] = [sampled(rows[index]), alone[[0, 2, 1][i] ?? 0]];
      expect(Object.keys(together.scores ?? {})).toEqual(heads.map(({ file }) => file));
      for (const { file } of heads) expect(together.scores?.[file]).toBeCloseTo(by?.scores?.[file] ?? NaN, 5);
    });
  });

  it('cost nothing where no router of the step asks for them', () => {
    const core = openCore(modelDir, { needs: { heads: writtenAll() } });
    const { rows, timing } = core.step([rowOf(0, 0, [5, 6])], {});
    expect(sampled(rows[0]).scores).toBeUndefined();
    expect(timing.headMs).toBeUndefined();
  });

  it('run over the rows that ask for them alone, with the scores of a step in which all do', () => {
    const heads = writtenAll();
    const [first, second, third] = heads;
    const core = openCore(modelDir, { needs: { heads } });
    const prompts = [[5, 6, 7], [9, 10, 11, 12], [20], [8, 7]];
    const all = core.step(
      prompts.map((ids, i) => rowOf(i, 0, ids)),
      { heads },
    );
    const wanted = [[third], [], [first, third], undefined];
    const mixed = core.step(
      prompts.map((ids, i) => ({
        ...rowOf(10 + i, 0, ids),
        ...(wanted[i] === undefined ? {} : { needs: { heads: wanted[i] } }),
      })),
      { heads, topK: 4 },
    );
    mixed.rows.map(sampled).forEach((row, i) => {
      const files = (wanted[i] ?? heads).map(({ file }) => file);
      expect(Object.keys(row.scores ?? {}).sort()).toEqual([...files].sort());
      for (const file of files)
        expect(row.scores?.[file]).toBeCloseTo(sampled(all.rows[i]).scores?.[file] ?? NaN, 5);
      // What was not asked for is not copied either.
      expect(row.topValues?.length).toBe(wanted[i] === undefined ? 4 : undefined);
    });
    expect(second.file).not.toBe(first.file);
  });

  it('are refused for a row where the step does not run them', () => {
    const [first, second] = writtenAll();
    const offered = { topK: 64, heads: [first.file, second.file] };
    const info = openCore(modelDir, {}).info;
    const check = (needs: SignalNeeds) => (): void =>
      checkBatch(
        { rows: [{ ...rowOf(3, 0, [5]), needs }], needs: { heads: [first], topK: 4 } },
        info,
        new Map(),
        offered,
      );
    expect(check({ heads: [first], topK: 4 })).not.toThrow();
    expect(check({ heads: [second] })).toThrow(
      `sequence 3 needs head ${second.file}, which the step does not`,
    );
    expect(check({ topK: 5 })).toThrow('sequence 3 needs 5 logits, the step 4');
  });

  it('pass through the worker; one that was not declared is refused before the step', async () => {
    const [, head, other] = writtenAll();
    const engine = engineOf(modelDir, { needs: { heads: [head] } });
    const info = await engine.start();
    expect(info.notes.join()).toContain('head: head.safetensors (BatchNormMlp, ');
    const rows = await rowsOf(engine, [rowOf(0, 0, [5, 6])], { heads: [head] });
    expect(sampled(rows[0]).scores?.[head.file]).toBeGreaterThan(0);
    const ask = () => engine.step({ rows: [rowOf(1, 0, [5])], needs: { heads: [other] } }, () => {});
    expect(ask).toThrow(/head .*head.safetensors was not loaded/);
  });
});

describe('a head file that does not fit is refused at start, and the first difference is named', () => {
  const refusal = async (spec: HeadSpec): Promise<string> => {
    const error = await rejection(engineOf(modelDir, { needs: { heads: [spec] } }).start());
    expect(error.code).toBe('checkpoint_invalid');
    expect(error.message).toContain(spec.file);
    return error.message;
  };
  const mlp = (change: (tensors: Map<string, Values>) => void): HeadSpec => {
    const tensors = new Map(mlpTensors(nets.mlp));
    change(tensors);
    return written(tensors, { architecture: ARCHITECTURE.mlp });
  };

  it('no file, no architecture, an unknown one, another one than the router needs', async () => {
    expect(await refusal({ file: join(scratchDir(), 'none.safetensors') })).toContain('cannot be opened');
    expect(await refusal(written(mlpTensors(nets.mlp), {}))).toContain('names no "architecture"');
    expect(await refusal(written(mlpTensors(nets.mlp), { architecture: 'Oracle' }))).toContain(
      'unknown architecture "Oracle"; known: LinearHead, BatchNormMlp',
    );
    const [, head] = writtenAll();
    expect(await refusal({ ...head, architecture: ARCHITECTURE.linear })).toContain(
      'holds the architecture BatchNormMlp, LinearHead is needed',
    );
  });

  it('a tensor that is missing, too many, of another shape, or not finite', async () => {
    expect(await refusal(mlp((tensors) => tensors.delete('bn.running_var')))).toContain(
      '"bn.running_var" is missing',
    );
    expect(await refusal(mlp((tensors) => tensors.set('fc3.weight', [1])))).toContain(
      '"fc3.weight" does not belong',
    );
    expect(await refusal(mlp((tensors) => tensors.set('fc2.bias', [1, 2])))).toContain(
      `"fc2.bias" has shape [2], expected [${hiddenSize}]`,
    );
    expect(await refusal(mlp((tensors) => tensors.set('head.bias', [NaN])))).toContain(
      '"head.bias" holds NaN at index 0',
    );
  });

  it('another hidden size, more logits than there are tokens, another vocabulary', async () => {
    const other = random.classifier(hiddenSize + 1, 8, [8]);
    const architecture = ARCHITECTURE.classifier;
    expect(await refusal(written(classifierTensors(other), { architecture }))).toContain(
      `made for hidden size ${hiddenSize + 1}, the model has ${hiddenSize}`,
    );
    const wide = random.classifier(hiddenSize, vocabSize + 1, [8]);
    expect(await refusal(written(classifierTensors(wide), { architecture }))).toContain(
      `reads the ${vocabSize + 1} largest logits, the model has ${vocabSize} tokens`,
    );
    const metadata = { architecture: ARCHITECTURE.linear, vocab_size: String(vocabSize + 64) };
    expect(await refusal(written(linearHeadTensors(nets.linear, 0), metadata))).toContain(
      `made for a vocabulary of ${vocabSize + 64}, the model has ${vocabSize}`,
    );
  });

  it('but a vocabulary that differs in its padding alone is no difference', () => {
    const metadata = { architecture: ARCHITECTURE.linear, vocab_size: String(vocabSize - 8) };
    const head = written(linearHeadTensors(nets.linear, 0), metadata);
    const core = openCore(modelDir, { needs: { heads: [head] }, maskIdsFrom: vocabSize - 8 });
    expect(sampled(core.step([rowOf(0, 0, [5, 6])], { heads: [head] }).rows[0]).scores).toBeDefined();
  });
});
