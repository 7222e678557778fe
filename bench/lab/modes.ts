import { silentLogger } from '../../core/log.ts';
import { SystemClock } from '../../core/system-clock.ts';
import { AutoPolicy, createPolicy, type PolicySpec, type StartPolicy } from '../../scheduling/index.ts';
import { WorkerSolver } from '../../scheduling/planner/index.ts';
import { connectNats } from '../../transport/nats.ts';
import type { Driver } from '../baselines/driver.ts';
import { LockstepDriver } from '../baselines/lockstep.ts';
import { RestartDriver } from '../baselines/restart.ts';
import { SequentialDriver, type ModelSide, type SequentialOptions } from '../baselines/sequential.ts';
import { SingleModelDriver } from '../baselines/single-model.ts';
import type { Router } from '../../routers/router.ts';
import type { Bench, Lab } from './lab.ts';
import { deploymentOf } from './pairs.ts';
import { routersFor, RuntimeDriver } from './runtime-driver.ts';

/** Every way of serving that is compared, from research code to the default. */
export const MODES = [
  'sequential',
  'restart',
  'lockstep',
  'eager',
  'threshold',
  'default',
  'small-only',
  'large-only',
] as const;

export type ModeName = (typeof MODES)[number];

/** Those that run on the runtime itself. */
export const RUNTIME_MODES: readonly ModeName[] = ['eager', 'threshold', 'default'];

export const MAX_NUM_BATCHED_TOKENS = 512;

async function routerOf(lab: Lab, model: number): Promise<Router> {
  const router = (await routersFor(deploymentOf(lab.pair, 'bench'), model)).get(lab.pair.router.id);
  if (router === undefined) throw new Error(`router ${lab.pair.router.id} is gone`);
  if (router.first !== undefined)
    throw new Error(`router ${router.name} chooses the first model, which baselines cannot`);
  return router;
}

async function sidesOf(lab: Lab, bench: Bench): Promise<[ModelSide, ModelSide]> {
  return [
    { engine: bench.engine(1, 'alone'), router: await routerOf(lab, 1) },
    { engine: bench.engine(2, 'alone'), router: await routerOf(lab, 2) },
  ];
}

/** A baseline over the lab's engines. `onDistance`: with `sequential`, told of every decision. */
export async function baselineDriver(
  lab: Lab,
  bench: Bench,
  mode: ModeName,
  onDistance?: SequentialOptions['onDistance'],
): Promise<Driver> {
  const limits = { maxNumSeqs: lab.maxNumSeqs, maxNumBatchedTokens: MAX_NUM_BATCHED_TOKENS };
  if (mode === 'sequential') {
    const sides = await sidesOf(lab, bench);
    return new SequentialDriver({ sides, ...limits, ...(onDistance ? { onDistance } : {}) });
  }
  if (mode === 'lockstep') return new LockstepDriver({ sides: await sidesOf(lab, bench), ...limits });
  if (mode === 'small-only' || mode === 'large-only') {
    const model = mode === 'small-only' ? 1 : 2;
    return new SingleModelDriver({ name: mode, model, engine: bench.engine(model, 'alone'), ...limits });
  }
  if (mode !== 'restart') throw new Error(`${mode} is no baseline`);
  const connect = (name: string) =>
    connectNats({ servers: lab.broker.url, name: `bench restart ${name}`, clock: new SystemClock() });
  const side = async (model: number) => ({
    engine: bench.engine(model, 'together'),
    router: await routerOf(lab, model),
    bus: await connect(`model ${model}`),
  });
  return new RestartDriver({
    sides: [await side(1), await side(2)],
    clientBus: await connect('client'),
    ...limits,
  });
}

let numNamespaces = 0;

/** The runtime over the lab's engines, under these policies (home first). */
export function runtimeDriver(
  lab: Lab,
  bench: Bench,
  name: string,
  policies: readonly [StartPolicy, StartPolicy],
): RuntimeDriver {
  numNamespaces += 1;
  return new RuntimeDriver({
    name,
    // Systems that take turns must not hear each other.
    deployment: deploymentOf(lab.pair, `bench-${process.pid}-${numNamespaces}`),
    natsUrl: lab.broker.url,
    policies,
    // A thread of its own, as in `tokenrail serve`; its computing goes on while others have their turn.
    solver: policies.some((policy) => policy instanceof AutoPolicy)
      ? new WorkerSolver(new SystemClock())
      : undefined,
    maxNumBatchedTokens: MAX_NUM_BATCHED_TOKENS,
    clock: bench.clock,
    logger: silentLogger,
    engineOf: (model, meter) => bench.engine(model, 'together', meter),
  });
}

/** Both models' policies from what a plan or a search names. */
export const policiesOf = (specs: readonly PolicySpec[]): [StartPolicy, StartPolicy] => [
  createPolicy(specs[0] ?? { kind: 'eager' }),
  createPolicy(specs[1] ?? { kind: 'eager' }),
];
