/** Every path of the server with its method. A `*` at the end stands for the rest. */
export const PATHS = {
  chat: ['POST', '/v1/chat/completions'],
  completions: ['POST', '/v1/completions'],
  models: ['GET', '/v1/models'],
  model: ['GET', '/v1/models/*'],
  live: ['GET', '/health'],
  ready: ['GET', '/health/ready'],
  readyAlias: ['GET', '/health_generate'],
  version: ['GET', '/version'],
  serverInfo: ['GET', '/server_info'],
  metrics: ['GET', '/metrics'],
} as const;

/** Methods a path takes; empty for a path that does not exist. */
export function allowedMethods(path: string): string[] {
  const matching = Object.values(PATHS).filter(([, pattern]) =>
    pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern,
  );
  return [...new Set(matching.map(([method]) => method))];
}

/** Whether a path needs an API key where keys are configured: everything but health, version, server_info and metrics. */
export function isGuarded(path: string): boolean {
  return path.startsWith('/v1/') || path === '/v1';
}
