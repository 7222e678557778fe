import { z } from 'zod';
import { toTokenrailError } from '../../../core/errors.ts';
import { checkPolicySpec, type PolicySpec } from '../../../scheduling/index.ts';
import { field } from '../fields.ts';
import { parsePolicy } from '../text-forms.ts';
import { simulatedSchema } from './simulated.ts';

const section = 'engine';

const rows = z.int().min(1);

/** Rows to wait for, or a list with one number for each number of requests alive. */
const threshold = z.union([rows, z.array(rows).min(1)], {
  error: 'expected a number of rows from 1, or a list of them (text: 1:2:2:3)',
});

const WAITS_FOR_ROWS: readonly string[] = ['threshold', 'threshold-hold', 'take-turns'];

/** Why the scheduler would refuse a policy; undefined if it would not. */
function refusalOf(policy: PolicySpec): string | undefined {
  try {
    checkPolicySpec(policy);
    return undefined;
  } catch (thrown) {
    return toTokenrailError(thrown).message;
  }
}

/** When a model starts a step; see docs/configuration.md, policies. */
export const policySchema = z
  .strictObject(
    {
      kind: z.enum(['auto', 'eager', 'threshold', 'look-ahead', 'threshold-hold', 'take-turns']),
      threshold: threshold.optional(),
      kappa: z.number().min(0).optional(),
      maxWaitMs: z.number().min(0).optional(),
      admissionP99Ms: z.number().positive().optional(),
    },
    {
      error: ({ code }) =>
        code === 'invalid_type'
          ? 'expected a policy such as "auto" or "threshold=4", or keys such as { kind: threshold, threshold: 4 }'
          : undefined,
    },
  )
  .superRefine((policy, context) => {
    const isMissing = WAITS_FOR_ROWS.includes(policy.kind) && policy.threshold === undefined;
    const message = isMissing
      ? `the policy "${policy.kind}" needs the number of rows: ${policy.kind}=B`
      : refusalOf(policy);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

export type PolicyConfig = PolicySpec;

/** Settings of one model's engine and scheduler: given for all models, or for one in its entry. */
export const engineShape = {
  engine: field(z.enum(['onnx', 'simulated']), {
    section,
    placeholder: 'KIND',
    help: 'What runs the model: "onnx" the checkpoint, "simulated" nothing: steps take given times and tokens mean nothing (labelled so everywhere).',
  }),
  simulated: field(simulatedSchema, {
    section,
    placeholder: 'KEYS',
    help: 'What a simulated engine imitates: step-ms and more, see "Simulated engines". In the file only.',
    defaultText: 'none; needed with engine: simulated',
  }),
  loadFormat: field(z.enum(['auto', 'dummy']), {
    section,
    placeholder: 'FORMAT',
    help: 'Weights: "auto" reads the checkpoint, "dummy" makes random ones: only config.json and the tokenizer are read.',
  }),
  quantization: field(z.enum(['none', 'int4']), {
    section,
    placeholder: 'KIND',
    help: 'Linear layers as f32 ("none") or 4-bit blocks of 32 ("int4").',
  }),
  threads: field(z.int().min(0).max(1024), {
    section,
    placeholder: 'N',
    help: 'Threads of one engine; 0 divides the cores among all engines of the machine.',
  }),
  maxNumSeqs: field(z.int().min(1).max(32), {
    section,
    placeholder: 'N',
    help: 'Rows of one step at most; 32 is the largest step of the ONNX engine.',
  }),
  maxNumBatchedTokens: field(z.int().min(16).max(65_536), {
    section,
    placeholder: 'N',
    help: 'Tokens of one step at most; longer prompts are prefilled in chunks.',
  }),
  blockSize: field(z.int().min(1).max(65_536), {
    section,
    placeholder: 'TOKENS',
    help: 'Tokens of one KV block.',
  }),
  policy: field(policySchema, {
    section,
    placeholder: 'POLICY',
    help: 'When a model starts a step: "auto", "eager", "threshold=B", "look-ahead", "threshold-hold=B" or "take-turns=B", with options such as ",max-wait-ms=T".',
    fromText: parsePolicy,
  }),
  maxModelLen: field(z.int().min(2).max(4_194_304), {
    section,
    placeholder: 'TOKENS',
    help: 'Longest sequence, prompt and answer together.',
    defaultText: "the checkpoint's max_position_embeddings",
  }),
  numKvBlocks: field(z.int().min(1), {
    section,
    placeholder: 'N',
    help: 'KV budget in blocks; excludes kv-cache-memory-bytes.',
    defaultText: 'computed from the memory',
  }),
  kvCacheMemoryBytes: field(z.int().min(1), {
    section,
    placeholder: 'BYTES',
    help: 'KV budget in bytes; excludes num-kv-blocks.',
    defaultText: 'computed from the memory',
  }),
};

/** Defaults of {@link engineShape}; what is missing here is optional. */
export const engineDefaults = {
  engine: 'onnx',
  loadFormat: 'auto',
  quantization: 'none',
  threads: 0,
  maxNumSeqs: 16,
  maxNumBatchedTokens: 512,
  blockSize: 256,
  policy: { kind: 'auto' },
} as const;
