import { z } from 'zod';
import { field } from '../fields.ts';
import { nameSchema } from './deployment.ts';

const section = 'gateway';

export const gatewayShape = {
  servedModelName: field(z.array(nameSchema).min(1, 'needs at least one name').default(['tokenrail']), {
    section,
    placeholder: 'NAME,…',
    help: 'Names under which clients ask for this deployment; the first one appears in answers.',
  }),
  host: field(z.string().min(1).default('127.0.0.1'), {
    section,
    placeholder: 'ADDRESS',
    help: 'Address the HTTP server binds; 0.0.0.0 and :: make it reachable from outside.',
  }),
  port: field(z.int().min(0).max(65_535).default(8000), {
    section,
    placeholder: 'PORT',
    help: 'Port of the HTTP server; 0 takes a free one.',
  }),
  apiKey: field(z.array(z.string().min(1)).default([]), {
    section,
    placeholder: 'KEY,…',
    help: 'Bearer keys, any of which opens the API; without any it is open.',
    isSecret: true,
  }),
  maxInflight: field(z.int().min(1).max(65_536).default(256), {
    section,
    placeholder: 'N',
    help: 'Requests running at one gateway.',
  }),
  maxQueue: field(z.int().min(0).max(65_536).default(256), {
    section,
    placeholder: 'N',
    help: 'Requests waiting at one gateway; beyond it clients get 429 with Retry-After.',
  }),
  requestTimeout: field(z.number().positive().max(86_400).optional(), {
    section,
    placeholder: 'SECONDS',
    help: 'A request that is not finished after this time ends with deadline_exceeded.',
    defaultText: 'none',
  }),
};
