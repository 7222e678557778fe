import { expect, test } from 'vitest';
import { answersOf } from '../../../bench/ablation/identity.ts';
import type { BenchRequest, Driver } from '../../../bench/baselines/driver.ts';
import { LockstepDriver } from '../../../bench/baselines/lockstep.ts';
import { RestartDriver } from '../../../bench/baselines/restart.ts';
import { SequentialDriver } from '../../../bench/baselines/sequential.ts';
import { SingleModelDriver } from '../../../bench/baselines/single-model.ts';
import { RuntimeDriver } from '../../../bench/lab/runtime-driver.ts';
import { silentLogger } from '../../../core/log.ts';
import { SystemClock } from '../../../core/system-clock.ts';
import { rStitch } from '../../../routers/r-stitch.ts';
import { createPolicy } from '../../../scheduling/index.ts';
import { resolveBroker } from '../../../transport/broker.ts';
import { ChainEngine, hashTokens, type ScriptedModel } from '../../helpers/chain-engine.ts';
import { LocalBroker } from '../../helpers/local-bus.ts';

const MODELS = [
  { id: 1, name: 'small' },
  { id: 2, name: 'large' },
];
const LIMITS = { maxNumSeqs: 4, maxNumBatchedTokens: 24 };
const END = 7;

/** Unsure about every third token; both models say something that depends on the whole text. */
const scripted =
  (salt: number): ScriptedModel =>
  (tokens) => {
    const hash = hashTokens(tokens, salt);
    return { token: 1 + (hash % 60), entropy: hashTokens(tokens, 99) % 3 === 0 ? 0.5 : 0 };
  };

const engines = (): [ChainEngine, ChainEngine] => {
  const clock = new SystemClock();
  return [
    new ChainEngine({ model: scripted(1), clock, stepMs: () => 0 }),
    new ChainEngine({ model: scripted(2), clock, stepMs: () => 0 }),
  ];
};

const router = (self: number) => rStitch({ self, home: 1, models: MODELS, options: { threshold: 0.1 } });

const sides = () => {
  const [small, large] = engines();
  const both = [
    { engine: small, router: router(1) },
    { engine: large, router: router(2) },
  ] as const;
  return both;
};

const requests: BenchRequest[] = Array.from({ length: 9 }, (_, id) => ({
  id,
  tokens: Array.from({ length: 5 + 7 * id }, (_, i) => 100 + ((id * 31 + i) % 50)),
  maxTokens: 40,
  stopIds: [END],
  sampling: { temperature: 0, topP: 1, topK: -1, minP: 0, seed: id },
}));

async function run(driver: Driver) {
  try {
    return await answersOf(driver, requests, 30);
  } finally {
    await driver.close();
  }
}

const reference = () => run(new SequentialDriver({ sides: sides(), ...LIMITS }));

test('the sequential loop computes the whole prefix at each visit of the large model, and only there', async () => {
  const both = sides();
  const answers = await run(new SequentialDriver({ sides: both, ...LIMITS }));
  const models = [...answers.values()].flatMap((answer) => answer.models);
  expect(models).toContain(2);
  const visits = both[1].engine.steps.filter(({ rows }) => rows[0]?.past === 0);
  const switches = [...answers.values()].map(
    (answer) => answer.models.filter((model, i) => model === 2 && answer.models[i - 1] !== 2).length,
  );
  expect(visits.length).toBeGreaterThanOrEqual(switches.reduce((sum, count) => sum + count, 0));
  expect(both[0].engine.steps.filter(({ rows }) => rows[0]?.past === 0)).toHaveLength(requests.length);
  expect(both.every(({ engine }) => engine.kv.size === 0)).toBe(true);
});

test('lockstep writes the same tokens, in batches', async () => {
  const both = sides();
  expect(await run(new LockstepDriver({ sides: both, ...LIMITS }))).toEqual(await reference());
  expect(Math.max(...both[0].engine.steps.map(({ rows }) => rows.length))).toBe(LIMITS.maxNumSeqs);
  expect(both.every(({ engine }) => engine.kv.size === 0)).toBe(true);
});

test('restart writes the same tokens; each switch computes again what no full block covers', async () => {
  const broker = new LocalBroker();
  const both = sides();
  const driver = new RestartDriver({
    sides: [
      { ...both[0], bus: broker.connect() },
      { ...both[1], bus: broker.connect() },
    ],
    clientBus: broker.connect(),
    ...LIMITS,
  });
  expect(await run(driver)).toEqual(await reference());
  const feeds = both[1].engine.steps.flatMap(({ rows }) => rows);
  const resumed = feeds.filter(({ past }) => past > 0 && past % 16 === 0);
  expect(resumed.length).toBeGreaterThan(0);
  expect(Math.max(...both[0].engine.steps.map(({ rows }) => rows.length))).toBeGreaterThan(1);
});

test('the runtime under every policy writes the same tokens', async () => {
  const expected = await reference();
  const broker = await resolveBroker({ clock: new SystemClock(), preferEmbedded: true });
  try {
    for (const spec of [{ kind: 'eager' as const }, { kind: 'threshold' as const, threshold: 3 }]) {
      const both = engines();
      const driver = new RuntimeDriver({
        name: 'runtime',
        deployment: {
          namespace: `test-${spec.kind}`,
          models: MODELS,
          home: 1,
          routers: [{ id: 'r-stitch', use: 'r-stitch', options: { threshold: 0.1 } }],
          defaultRouter: 'r-stitch',
        },
        natsUrl: broker.url,
        policies: [createPolicy(spec), createPolicy(spec)],
        maxNumBatchedTokens: LIMITS.maxNumBatchedTokens,
        clock: new SystemClock(),
        logger: silentLogger,
        engineOf: (model) => both[model - 1] as ChainEngine,
      });
      expect(await run(driver)).toEqual(expected);
    }
  } finally {
    await broker.stop();
  }
});

test('one model alone answers in a continuous batch', async () => {
  const [small] = engines();
  const driver = new SingleModelDriver({ name: 'small-only', model: 1, engine: small, ...LIMITS });
  const answers = await run(driver);
  for (const request of requests) {
    const tokens = [...request.tokens];
    const expected: number[] = [];
    while (expected.length < request.maxTokens && expected.at(-1) !== END) {
      const { token } = scripted(1)(tokens, request.sampling);
      tokens.push(token);
      expected.push(token);
    }
    expect(answers.get(request.id)?.ids).toEqual(expected);
  }
  expect(small.kv.size).toBe(0);
});

test('an engine that fails ends its requests with a reason', async () => {
  const failing = new ChainEngine({ model: scripted(1), clock: new SystemClock(), failsAtStep: () => true });
  const driver = new SingleModelDriver({ name: 'small-only', model: 1, engine: failing, ...LIMITS });
  const answers = await run(driver);
  expect([...answers.values()].every(({ failure }) => failure?.includes('scripted failure'))).toBe(true);
});
