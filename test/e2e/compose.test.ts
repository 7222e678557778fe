import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findExecutable } from '../../transport/find-executable.ts';
import { requiresNatsServer } from '../helpers/nats-server.ts';
import { ask } from './support/ask.ts';
import { Cli, endAll, root } from './support/cli.ts';
import { composeProgram, hostPath, readServices } from './support/compose.ts';
import type { Service } from './support/compose.ts';
import { eventually } from './support/processes.ts';

const services = readServices();
const natsServer = findExecutable('nats-server');
const compose = composeProgram();
const MODELS = ['small', 'large'];
const NUM_REPLICAS = 2;

if (natsServer === undefined && !requiresNatsServer()) {
  process.stdout.write('SKIPPED: the services of docker-compose.yml need a nats-server on the PATH\n');
}
if (compose === undefined)
  process.stdout.write('SKIPPED: docker-compose is not installed, its file is not validated\n');

afterAll(endAll);

describe('docker-compose.yml', () => {
  test.skipIf(compose === undefined)('is valid', () => {
    const [program = '', ...args] = compose ?? [];
    execFileSync(program, [...args, '-f', resolve(root, 'docker-compose.yml'), 'config', '-q']);
  });

  test('has one service per model of its configuration, and every file it names exists', () => {
    expect(Object.keys(services).sort()).toEqual(['gateway', 'large', 'nats', 'small']);
    for (const service of Object.values(services)) {
      for (const volume of service.volumes ?? []) {
        expect(existsSync(resolve(root, volume.split(':')[0] ?? ''))).toBe(true);
      }
    }
    for (const name of ['gateway', ...MODELS]) {
      const service = services[name] as Service;
      // Its configuration comes from the host, so that a router or a model of one's own needs no new image.
      const config = service.command[service.command.indexOf('--config') + 1] ?? '';
      expect(hostPath(service, `/app/${config}`)).toBe(resolve(root, config));
      expect(hostPath(service, '/app/models/small')).toBe(resolve(root, 'models/small'));
    }
    expect(services['gateway']?.depends_on).toMatchObject({
      small: {},
      large: {},
      nats: { condition: 'service_healthy' },
    });
  });

  test('one variable gives the token of the broker to it and to all its clients', () => {
    const withToken = readServices({ TOKENRAIL_NATS_TOKEN: 'secret' });
    const { command = [] } = withToken['nats'] ?? {};
    expect(command[command.indexOf('--auth') + 1]).toBe('secret');
    for (const name of ['gateway', ...MODELS])
      expect(withToken[name]?.environment).toMatchObject({ TOKENRAIL_NATS_TOKEN: 'secret' });
  });

  test('the image starts the same program in the same folder as the tests here, as an ordinary user', () => {
    const dockerfile = readFileSync(resolve(root, 'deploy/Dockerfile'), 'utf8');
    expect(dockerfile).toContain('ENTRYPOINT ["node", "dist/deploy/cli/bin.mjs"]');
    expect(dockerfile.match(/^WORKDIR .*/gm)).toEqual(['WORKDIR /app', 'WORKDIR /app']);
    expect(dockerfile).toMatch(/^USER node$/m);
  });
});

/** The broker as its service starts it, on free ports. */
async function startNats(service: Service): Promise<{ nats: Cli; url: string; monitor: string }> {
  const args = service.command.map((argument) => hostPath(service, argument));
  const nats = new Cli([...args, '-a', '127.0.0.1', '-p', '-1', '-m', '-1'], { command: [natsServer ?? ''] });
  const [, url = ''] = await nats.find('stderr', /Listening for client connections on (\S+:\d+)/);
  const [, port = ''] = await nats.find('stderr', /Starting http monitor on \S+:(\d+)/);
  return { nats, url: `nats://${url}`, monitor: `http://127.0.0.1:${port}` };
}

/** A service of ours as Compose starts it: its command line and its environment, on this machine's broker. */
function startService(service: Service, natsUrl: string): Cli {
  const environment = { ...service.environment, TOKENRAIL_HOST: '127.0.0.1', TOKENRAIL_PORT: '0' };
  const env = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value === 'nats://nats:4222' ? natsUrl : (value ?? ''),
    ]),
  );
  return new Cli(service.command, { env });
}

interface Readiness {
  status: string;
  models: Record<string, { replicas: number }>;
}

/** Steps made so far by each replica, as `model/replica`. */
async function stepsByReplica(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line =
    /^tokenrail_subserver_events_total\{model_name="(\w+)",replica="([^"]+)",event="steps"\} (\d+)$/gm;
  return new Map(
    [...text.matchAll(line)].map(([, model, replica, steps]) => [`${model}/${replica}`, Number(steps)]),
  );
}

test.skipIf(natsServer === undefined && !requiresNatsServer())(
  'its processes, two replicas of each model, answer over a nats-server; every replica serves; all end with exit code 0',
  async () => {
    const { nats, url: natsUrl, monitor } = await startNats(services['nats'] as Service);
    const health = services['nats']?.healthcheck?.test.at(-1) ?? '';
    expect((await fetch(monitor + new URL(health).pathname)).status).toBe(200);

    const subservers = MODELS.flatMap((model) =>
      Array.from({ length: NUM_REPLICAS }, () => startService(services[model] as Service, natsUrl)),
    );
    const gateway = startService(services['gateway'] as Service, natsUrl);
    const [, url = ''] = await gateway.find('stdout', /gateway listens at (http:\S+)/);
    for (const subserver of subservers) await subserver.find('stdout', /(small|large) serves as replica \S+/);
    await eventually(async () => {
      const { status, models } = (await (await fetch(`${url}/health/ready`)).json()) as Readiness;
      const isComplete = MODELS.every((model) => models[model]?.replicas === NUM_REPLICAS);
      return status === 'ready' && isComplete ? true : undefined;
    });
    expect((await fetch(`${url}/health`)).status).toBe(200);

    // First contact goes to any replica of a model: some requests reach each of them.
    await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask(url)));
      for (const { choices, usage } of answers) {
        expect(choices[0]?.message.content).toContain('The answer is 46.');
        expect(Object.keys(usage.tokenrail.tokens_by_model).sort()).toEqual(['large', 'small']);
      }
      const steps = await stepsByReplica(url);
      return steps.size === MODELS.length * NUM_REPLICAS && [...steps.values()].every((n) => n > 0)
        ? true
        : undefined;
    });

    for (const cli of [gateway, ...subservers]) {
      cli.kill('SIGTERM');
      expect(await cli.exited).toEqual({ code: 0, signal: null });
    }
    // The log is JSON, one object per line, as compose.config.yaml says.
    const lines = gateway.stderr.trim().split('\n');
    expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'));
    nats.kill('SIGTERM');
    await nats.exited;
  },
);
