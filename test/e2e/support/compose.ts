import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { root } from './cli.ts';

export interface Service {
  image: string;
  command: string[];
  /** An empty value is null here and an empty variable in the container. */
  environment?: Record<string, string | null>;
  volumes?: string[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
}

type Variables = Readonly<Record<string, string>>;

/** `${NAME:-default}` → the variable or its default, as Compose does it. */
const interpolate = (text: string, variables: Variables): string =>
  text.replaceAll(
    /\$\{(\w+):-([^}]*)\}/g,
    (_all, name: string, fallback: string) => variables[name] || fallback,
  );

/** The services of docker-compose.yml, with these variables and the defaults of the others. */
export function readServices(variables: Variables = {}): Record<string, Service> {
  const text = interpolate(readFileSync(resolve(root, 'docker-compose.yml'), 'utf8'), variables);
  return (parse(text, { merge: true }) as { services: Record<string, Service> }).services;
}

/** A path inside a service's container as a path of this machine, by the service's volumes. */
export function hostPath(service: Service, path: string): string {
  for (const volume of service.volumes ?? []) {
    const [host = '', inside = ''] = volume.split(':');
    if (path === inside || path.startsWith(`${inside}/`))
      return resolve(root, host) + path.slice(inside.length);
  }
  return path;
}

/** The Compose program that is installed, if any. */
export function composeProgram(): readonly string[] | undefined {
  for (const [program = '', ...args] of [['docker-compose'], ['docker', 'compose']]) {
    try {
      execFileSync(program, [...args, 'version'], { stdio: 'ignore' });
      return [program, ...args];
    } catch {
      continue;
    }
  }
  return undefined;
}
