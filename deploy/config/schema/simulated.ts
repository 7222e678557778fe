import { z } from 'zod';

const LAWS = [
  'bernoulli',
  'correlated',
  'geometric',
  'deterministic',
  'bimodal',
  'bursty',
  'heavy-tailed',
] as const;

const ms = z.number().min(0).max(3_600_000);
const share = z.number().min(0).max(1);

/** What `engine: simulated` imitates; see docs/configuration.md, simulated engines. */
export const simulatedSchema = z
  .strictObject({
    stepMs: z.number().positive().max(3_600_000),
    perRowMs: ms.default(0),
    perTokenMs: ms.default(0),
    prefillPerTokenMs: ms.default(0),
    jitter: share.default(0),
    law: z.enum(LAWS).default('bernoulli'),
    leave: share.optional(),
    rho: share.optional(),
    seed: z.int().default(0),
  })
  .refine(({ law, rho }) => (law === 'correlated') === (rho !== undefined), {
    message: 'rho goes with law: correlated, and only with it',
  })
  .refine(({ law, leave }) => (law !== 'correlated' && law !== 'bernoulli') === (leave !== undefined), {
    message: 'leave goes with a law of run lengths, and only with one',
  });

export type SimulatedConfig = Readonly<z.output<typeof simulatedSchema>>;
