import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { ModelList } from '../model-list.ts';
import type { ServerInfo } from '../server-info.ts';
import type { Readiness } from '../readiness.ts';
import { PATHS } from './paths.ts';

export interface ServiceRoutesOptions {
  models: ModelList;
  version: string;
  readiness: () => Readiness;
  registry: Registry;
  serverInfo: () => ServerInfo;
  retryAfterSeconds: number;
}

/** Models, health, version, how the replicas schedule themselves, and metrics. */
export function addServiceRoutes(app: FastifyInstance, options: ServiceRoutesOptions): void {
  addModelRoutes(app, options);
  app.get(PATHS.live[1], () => ({ status: 'live' }));
  for (const path of [PATHS.ready[1], PATHS.readyAlias[1]]) {
    app.get(path, (_request, reply) => {
      const state = options.readiness();
      if (state.status === 'ready') return reply.send(state);
      return reply.code(503).header('retry-after', String(options.retryAfterSeconds)).send(state);
    });
  }
  app.get(PATHS.version[1], () => ({ version: options.version }));
  app.get(PATHS.serverInfo[1], () => options.serverInfo());
  app.get(PATHS.metrics[1], async (_request, reply) => {
    const text = await options.registry.metrics();
    return reply.type(options.registry.contentType).send(text);
  });
}

function addModelRoutes(app: FastifyInstance, { models }: ServiceRoutesOptions): void {
  app.get(PATHS.models[1], () => ({ object: 'list', data: models.all() }));
  app.get<{ Params: { '*': string } }>(PATHS.model[1], (request, reply) =>
    reply.send(models.get(request.params['*'])),
  );
}
