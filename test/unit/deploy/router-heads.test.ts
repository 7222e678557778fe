import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveConfig, type ResolvedConfig } from '../../../deploy/config/deployment.ts';
import { defaultHeadFile } from '../../../deploy/config/head-files.ts';
import { loadConfig } from '../../../deploy/config/load.ts';
import { routerCheck } from '../../../deploy/doctor/model-checks.ts';
import { checkDeployment } from '../../../deploy/start-up-checks.ts';
import { routersWithHead } from '../../../routers/registry.ts';
import {
  ARCHITECTURE,
  classifierTensors,
  linearHeadTensors,
  mlpTensors,
  writeHeadFile,
  type HeadTensors,
} from '../../helpers/head-files.ts';
import { RandomHeads } from '../../helpers/random-heads.ts';

const HIDDEN = 96;
const random = new RandomHeads(11);
const heads: Record<string, { tensors: HeadTensors; architecture: string }> = {
  r2r: {
    tensors: classifierTensors(random.classifier(HIDDEN, 100, [8])),
    architecture: ARCHITECTURE.classifier,
  },
  citer: { tensors: mlpTensors(random.mlp(HIDDEN)), architecture: ARCHITECTURE.mlp },
  'co-llm': { tensors: linearHeadTensors(random.vector(HIDDEN), 0), architecture: ARCHITECTURE.linear },
};

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tokenrail-router-heads-'));
  for (const name of ['a', 'b']) cpSync('models/small', join(dir, name), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true }));

/** The network of a router where it is looked for by default. */
function put(use: string, metadata: Record<string, string> = {}, tensors = heads[use]?.tensors): string {
  const path = defaultHeadFile(join(dir, 'a'), use);
  mkdirSync(dirname(path), { recursive: true });
  const architecture = heads[use]?.architecture ?? '';
  return writeHeadFile(path, tensors ?? new Map(), { architecture, ...metadata });
}

function resolve(yaml: string, models = '[{name: a, path: a}, {name: b, path: b}]'): ResolvedConfig {
  const configPath = join(dir, 'config.yaml');
  writeFileSync(configPath, `models: ${models}\n${yaml}\n`);
  return resolveConfig(loadConfig({ configPath }));
}

const idsOf = ({ deployment }: ResolvedConfig): string[] => deployment.routers.map(({ id }) => id);

describe('the file of a router’s network', () => {
  test.each([...routersWithHead])('router: %s alone finds it beside the home’s folder', async (use) => {
    const path = put(use);
    const resolved = resolve(`router: ${use}`);
    expect(path).toBe(join(dir, 'routers', use, 'head.safetensors'));
    const { defaultRouter, routers } = resolved.deployment;
    expect(routers.find(({ id }) => id === defaultRouter)).toEqual({ id: use, use, options: { head: path } });
    await expect(checkDeployment(resolved)).resolves.toEqual({ maskIdsFrom: 768 });
  });

  test('an entry without option head means the same file; with one, that file; with a token, none', () => {
    const path = put('co-llm');
    const other = writeHeadFile(join(dir, 'own.safetensors'), new Map(), {});
    const { deployment } = resolve(`routers:
  - { id: x, use: co-llm, options: { strategy: compose } }
  - { id: y, use: co-llm, options: { head: own.safetensors } }
  - { id: z, use: co-llm, options: { deferToken: 768 } }`);
    expect(deployment.routers.map(({ options }) => options)).toEqual([
      { strategy: 'compose', head: path },
      { head: 'own.safetensors' },
      { deferToken: 768 },
    ]);
    expect(existsSync(other)).toBe(true);
  });

  test.each([...routersWithHead])(
    '%s: one that is missing is an error that names router, option and path',
    (use) => {
      const path = join(dir, 'routers', use, 'head.safetensors');
      const refusal = expect.objectContaining({ code: 'config_invalid', param: 'routers' }) as Error;
      expect(() => resolve(`router: ${use}`)).toThrow(refusal);
      expect(() => resolve(`router: ${use}`)).toThrow(
        `router "${use}": option "head": ${path} cannot be read`,
      );
      const named = `routers: [{ id: mine, use: ${use}, options: { head: no/where } }]`;
      expect(() => resolve(named)).toThrow(
        `router "mine": option "head": ${join(dir, 'no/where')} cannot be read`,
      );
    },
  );
});

describe('the routers that are offered without a list', () => {
  const plain = ['r-stitch', 'always-small', 'always-large', 'random'];

  test('have those whose networks come with the embedded pair, for its small model as home alone', () => {
    const shipped = [...routersWithHead].filter((use) =>
      existsSync(`models/routers/${use}/head.safetensors`),
    );
    const of = (flags: Record<string, string>): string[] => idsOf(resolveConfig(loadConfig({ flags })));
    expect(of({})).toEqual([...plain, ...shipped]);
    expect(of({ home: 'large' })).toEqual(plain);
    expect(of({ models: 'x=models/small,y=models/medium,z=models/large' })).toEqual([
      ...plain,
      ...shipped,
      'ensemble',
    ]);
  });

  test('have none for other checkpoints, whatever lies beside them, but the one that is asked for', () => {
    for (const use of routersWithHead) put(use);
    expect(idsOf(resolve(''))).toEqual(plain);
    expect(idsOf(resolve('router: citer'))).toEqual([...plain, 'citer']);
    expect(idsOf(resolve('router: ensemble'))).toEqual([...plain, 'ensemble']);
    expect(() => resolve('router: citre')).toThrow(/^router: "citre" is not one of/);
    expect(() => resolve('router: citer\nrouters: [{ id: x, use: random }]')).toThrow(
      /^router: "citer" is not/,
    );
  });
});

describe('the hash of what processes must agree on', () => {
  test('covers the content of networks, not where they lie', () => {
    put('r2r');
    const { configHash } = resolve('router: r2r');
    for (const name of ['a', 'routers'])
      cpSync(join(dir, name), join(dir, 'elsewhere', name), { recursive: true });
    const moved = '[{name: a, path: elsewhere/a}, {name: b, path: b}]';
    expect(resolve('router: r2r', moved).configHash).toBe(configHash);
    const file = defaultHeadFile(join(dir, 'a'), 'r2r');
    const bytes = readFileSync(file);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    writeFileSync(file, bytes);
    expect(resolve('router: r2r').configHash).not.toBe(configHash);
  });

  test('covers what a router of the user’s own calls its head, where that is a file', () => {
    const own = 'routers: [{ id: own, use: ./own.ts, options: { head: own.bin } }]';
    const without = resolve(own).configHash;
    writeFileSync(join(dir, 'own.bin'), 'one');
    const one = resolve(own).configHash;
    writeFileSync(join(dir, 'own.bin'), 'two');
    expect(new Set([without, one, resolve(own).configHash]).size).toBe(3);
  });
});

describe('a network that does not fit is refused before anything starts, by the router’s name', () => {
  const refusal = async (use: string, problem: RegExp): Promise<void> => {
    const resolved = resolve(`router: ${use}`);
    const error: unknown = await checkDeployment(resolved).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'config_invalid' });
    const { message } = error as Error;
    expect(message).toContain(use);
    expect(message).toContain(join(dir, 'routers', use, 'head.safetensors'));
    expect(message).toMatch(problem);
    await expect(routerCheck.run(resolved)).rejects.toThrow(message);
  };

  test('made for another hidden size', async () => {
    put('citer', {}, mlpTensors(random.mlp(128)));
    await refusal('citer', /"citer" at model "a": .* made for hidden size 128, the model has 96/);
  });

  test('made for another vocabulary; padding at its end is no difference', async () => {
    put('r2r', { vocab_size: '800' });
    await refusal('r2r', /made for a vocabulary of 800, the model has 768/);
    const config = join(dir, 'a', 'config.json');
    const content = JSON.parse(readFileSync(config, 'utf8')) as object;
    writeFileSync(config, JSON.stringify({ ...content, vocab_size: 800 }));
    await expect(checkDeployment(resolve('router: r2r'))).resolves.toEqual({ maskIdsFrom: 768 });
    put('r2r', { vocab_size: '768' });
    await expect(checkDeployment(resolve('router: r2r'))).resolves.toEqual({ maskIdsFrom: 768 });
  });

  test('of another architecture', async () => {
    put('co-llm', { architecture: ARCHITECTURE.mlp }, heads['citer']?.tensors);
    await refusal('co-llm', /holds BatchNormMlp, this router needs LinearHead/);
  });

  test('with a weight that is no number', async () => {
    put('co-llm', {}, linearHeadTensors([...random.vector(HIDDEN - 1), NaN], 0));
    await refusal('co-llm', /tensor "weight" holds NaN at index 95/);
  });

  test('cut off, in its tensors or in its header', async () => {
    const file = put('citer');
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, whole.length - 100));
    await refusal('citer', /100 bytes|ends|size|bytes/);
    writeFileSync(file, whole.subarray(0, 20));
    await refusal('citer', /ends inside its header|cannot be read/);
  });

  test('but beside a simulated home no network is read: it has none', async () => {
    put('citer', {}, mlpTensors(random.mlp(128)));
    const models = '[{name: a, path: a, engine: simulated, simulated: {step-ms: 1}}, {name: b, path: b}]';
    await expect(checkDeployment(resolve('router: citer', models))).resolves.toBeDefined();
  });
});

describe('what a simulated engine imitates', () => {
  const model = (name: string, more = ''): string => `{name: ${name}, path: ${name}${more}}`;
  const imitates = ', simulated: {step-ms: 1}';

  test.each([
    [
      'beside engine: onnx',
      '',
      `[${model('a')}, ${model('b', imitates)}]`,
      /^simulated: model "b" has engine: onnx/,
    ],
    [
      'for all, where all run',
      'simulated: {step-ms: 1}',
      undefined,
      /^simulated: is given for all models, but none/,
    ],
    [
      'for all, where the simulated one has its own',
      'simulated: {step-ms: 1}',
      `[${model('a')}, ${model('b', `, engine: simulated${imitates}`)}]`,
      /^simulated: is given for all models, but none/,
    ],
  ])('is refused %s', (_name, yaml, models, message) => {
    expect(() => resolve(yaml, models)).toThrow(message);
  });

  test('is taken where one model at least goes by it', () => {
    const mixed = `[${model('a')}, ${model('b', ', engine: simulated')}]`;
    expect(resolve('simulated: {step-ms: 3}', mixed).models[1]?.simulated?.stepMs).toBe(3);
  });
});
