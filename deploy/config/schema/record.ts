import { z } from 'zod';
import { field } from '../fields.ts';
import { parseRecord } from '../text-forms.ts';

/** What is kept of served requests, for `tokenrail record`; see docs/replay.md. */
export const recordSchema = z.strictObject(
  {
    topK: z.int().min(1).max(4096).default(100),
    hidden: z.boolean().default(true),
  },
  {
    error: ({ code }) =>
      code === 'invalid_type'
        ? 'expected "on", "off", or keys such as { top-k: 100, hidden: true }'
        : undefined,
  },
);

export const recordShape = {
  record: field(recordSchema.optional(), {
    section: 'deployment',
    placeholder: 'SIGNALS',
    help: 'Publishes what each step saw and decided, for "tokenrail record": "on", or "on" with top-k=N (100: largest logits of a row) and hidden=false (leaves out hidden vectors). Holds token ids, no text.',
    defaultText: 'off',
    fromText: parseRecord,
  }),
};
