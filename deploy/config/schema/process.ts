import { z } from 'zod';
import { field } from '../fields.ts';

const section = 'process';

export const processShape = {
  shutdownTimeout: field(z.number().min(0).max(3600).default(30), {
    section,
    placeholder: 'SECONDS',
    help: 'Time that running requests get to finish after SIGTERM or SIGINT; a second signal stops at once.',
  }),
  logLevel: field(z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'), {
    section,
    placeholder: 'LEVEL',
    help: 'Least severe log line that is written (to standard error).',
  }),
  logFormat: field(z.enum(['pretty', 'json']).default('pretty'), {
    section,
    placeholder: 'FORMAT',
    help: 'Log lines for people or one JSON object per line.',
  }),
};
