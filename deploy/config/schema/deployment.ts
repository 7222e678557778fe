import { z } from 'zod';
import { field } from '../fields.ts';
import { parseModels, parseReplicas } from '../text-forms.ts';
import { engineShape } from './engine.ts';

const section = 'deployment';

/** A name people choose: not empty, at most 128 characters, no control characters. */
export const nameSchema = z
  .string()
  .min(1, 'must not be empty')
  .max(128)
  .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters');

type OptionalShape<S extends Readonly<Record<string, z.ZodType>>> = { [K in keyof S]: z.ZodOptional<S[K]> };

const optionalShape = <S extends Readonly<Record<string, z.ZodType>>>(shape: S): OptionalShape<S> =>
  Object.fromEntries(
    Object.entries(shape).map(([key, schema]) => [key, schema.optional()]),
  ) as OptionalShape<S>;

/** One model: what it is called, where its checkpoint lies, and what differs from the settings for all. */
export const modelSchema = z.strictObject({
  name: nameSchema,
  path: z.string().min(1, 'must not be empty'),
  ...optionalShape(engineShape),
});

export const routerSchema = z.strictObject({
  // Travels with every request as it is; no message may carry another name.
  id: nameSchema.regex(/^[\x21-\x7e]*$/, 'must be visible ASCII without spaces'),
  use: z.string().min(1, 'must not be empty'),
  options: z.record(z.string(), z.unknown()).default({}),
});

const NATS_URL = /^(nats|tls):\/\/[^\s/]+$/;

export const deploymentShape = {
  namespace: field(nameSchema.default('tokenrail'), {
    section,
    placeholder: 'NAME',
    help: 'First token of every subject; separates deployments on one broker.',
  }),
  nats: field(z.string().regex(NATS_URL, 'expected nats://host:port').optional(), {
    section,
    placeholder: 'URL',
    help: 'The broker, such as nats://127.0.0.1:4222.',
    defaultText: 'a nats-server on the PATH, else the embedded broker',
    isSecret: true, // the URL may carry credentials
  }),
  natsToken: field(z.string().min(1).optional(), {
    section,
    placeholder: 'TOKEN',
    help: 'Token for the broker.',
    isSecret: true,
  }),
  models: field(z.array(modelSchema).min(1, 'needs at least one model').max(64).optional(), {
    section,
    placeholder: 'NAME=DIR,…',
    help: 'The models, the home first: name and checkpoint directory, and in the file any engine key for this model alone.',
    defaultText: 'the embedded pair: small and large',
    fromText: parseModels,
  }),
  home: field(nameSchema.optional(), {
    section,
    placeholder: 'NAME',
    help: 'The model that admits requests and owns them.',
    defaultText: 'the first model',
  }),
  routers: field(z.array(routerSchema).min(1, 'needs at least one router').optional(), {
    section,
    placeholder: 'LIST',
    help: 'Routers that requests may ask for: id, use (a built-in name or the path of a module) and options. In the file only.',
    defaultText:
      'r-stitch with threshold 0.02, always-small, always-large, random; r2r, citer and co-llm where the home is the embedded small model; ensemble for three models and more; always-small alone for one model',
  }),
  router: field(nameSchema.optional(), {
    section,
    placeholder: 'ID',
    help: 'The router of requests that name none: an id from "routers", or, where that is not given, any built-in one.',
    defaultText: 'the first router',
  }),
  threshold: field(z.number().optional(), {
    section,
    placeholder: 'X',
    help: 'Option "threshold" of the default router, over the one in routers.',
  }),
  replicas: field(z.record(z.string(), z.int().min(1).max(64)).default({}), {
    section,
    placeholder: 'NAME=N,…',
    help: 'Subservers that "serve" starts per model.',
    defaultText: 'one per model',
    fromText: parseReplicas,
  }),
};
