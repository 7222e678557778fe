import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../../../deploy/config/deployment.ts';
import type { ResolvedConfig } from '../../../deploy/config/deployment.ts';
import { loadConfig } from '../../../deploy/config/load.ts';
import { divideThreads } from '../../../deploy/config/threads.ts';
import { subserverOptions } from '../../../deploy/roles/subserver.ts';

const resolve = (flags: Record<string, string> = {}): ResolvedConfig => resolveConfig(loadConfig({ flags }));

describe('the deployment', () => {
  test('is the embedded pair by default, the small model at home', () => {
    const { deployment, models } = resolve();
    expect(deployment.models).toEqual([
      { id: 1, name: 'small' },
      { id: 2, name: 'large' },
    ]);
    expect(deployment).toMatchObject({ home: 1, defaultRouter: 'r-stitch', namespace: 'tokenrail' });
    expect(deployment.routers.map(({ id }) => id).slice(0, 4)).toEqual([
      'r-stitch',
      'always-small',
      'always-large',
      'random',
    ]);
    expect(models.map(({ path }) => path.split('/').slice(-2))).toEqual([
      ['models', 'small'],
      ['models', 'large'],
    ]);
  });

  test('takes home, router and threshold', () => {
    const { deployment } = resolve({ home: 'large', router: 'r-stitch', threshold: '0.5' });
    expect(deployment.home).toBe(2);
    expect(deployment.routers[0]).toEqual({ id: 'r-stitch', use: 'r-stitch', options: { threshold: 0.5 } });
    expect(deployment.routers[1]?.options).toEqual({});
  });

  test('tells every subserver what policies the others keep', () => {
    const resolved = resolve({ models: 'a=x,b=y', policy: 'auto,max-wait-ms=40' });
    const [home, guest] = resolved.models;
    if (!home || !guest) throw new Error('two models');
    const kept = { kind: 'threshold', threshold: 3 } as const;
    const options = subserverOptions({ ...resolved, models: [home, { ...guest, policy: kept }] }, home, 'r');
    expect(options.policies).toEqual([{ kind: 'auto', maxWaitMs: 40 }, kept]);
  });

  test('of one model offers no router that needs two', () => {
    expect(resolve({ models: 'only=x' }).deployment).toMatchObject({
      defaultRouter: 'always-small',
      routers: [{ id: 'always-small' }],
    });
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['unknown home', { home: 'lagre' }, /^home: "lagre".*did you mean "large"/],
    ['unknown router', { router: 'rstitch' }, /^router: "rstitch".*did you mean "r-stitch"/],
    ['unknown replica', { replicas: 'smal=2' }, /^replicas: "smal".*did you mean "small"/],
    ['a model twice', { models: 'a=x,a=y' }, /^models: "a" is given twice/],
    ['a served name twice', { 'served-model-name': 'a,a' }, /^served-model-name: "a" is given twice/],
    [
      'both KV budgets',
      { 'num-kv-blocks': '4', 'kv-cache-memory-bytes': '9' },
      /num-kv-blocks: excludes kv-cache-memory-bytes/,
    ],
  ])('%s is refused', (_name, flags, message) => {
    expect(() => resolve(flags)).toThrow(message);
  });

  test('model names that NATS would read as wildcards or levels stay apart', () => {
    const names = resolve({ models: '*=a,a.b=b,>=c,a b=d' }).deployment.models.map(({ name }) => name);
    expect(names).toEqual(['*', 'a.b', '>', 'a b']);
  });

  test('its hash tells deployments apart, and nothing else', () => {
    const { configHash } = resolve();
    const same: Record<string, string>[] = [
      { port: '9' },
      { threads: '1' },
      { 'log-level': 'error' },
      { replicas: 'small=2' },
    ];
    for (const flags of same) expect(resolve(flags).configHash).toBe(configHash);
    const other: Record<string, string>[] = [
      { threshold: '0.1' },
      { home: 'large' },
      { namespace: 'x' },
      { router: 'random' },
      { models: 'large=a,small=b' },
    ];
    const hashes = other.map((flags) => resolve(flags).configHash);
    expect(new Set([configHash, ...hashes]).size).toBe(other.length + 1);
  });
});

describe('threads', () => {
  const engine = (
    weightBytes: number,
    threads = 0,
    numReplicas = 1,
  ): Parameters<typeof divideThreads>[0][number] => ({
    weightBytes,
    threads,
    numReplicas,
  });

  test('cores are divided evenly, the rest goes to the largest model', () => {
    expect(divideThreads([engine(1), engine(5)], 2)).toEqual([1, 1]);
    expect(divideThreads([engine(1), engine(5)], 7)).toEqual([3, 4]);
    expect(divideThreads([engine(5), engine(1)], 7)).toEqual([4, 3]);
  });

  test('replicas share as well', () => {
    expect(divideThreads([engine(1, 0, 2), engine(5)], 8)).toEqual([2, 3]);
    expect(divideThreads([engine(1, 0, 1), engine(5, 0, 2)], 8)).toEqual([2, 3]);
  });

  test('everybody gets one, also with fewer cores than engines', () => {
    expect(divideThreads([engine(1), engine(2), engine(3)], 1)).toEqual([1, 1, 1]);
  });

  test('fixed numbers are kept, and the others divide what is left', () => {
    expect(divideThreads([engine(1, 1), engine(5)], 4)).toEqual([1, 3]);
    expect(divideThreads([engine(1, 8), engine(5)], 4)).toEqual([8, 1]);
  });
});
