import type { PlannedPolicy, PlanStep } from '../messages.ts';
import { isMeasured, readNumbers } from './estimates.ts';
import { MAX_COUNT, MAX_MODEL_ID, MAX_NAME_CHARS, MAX_PLAN_STEPS, MAX_THRESHOLDS } from './limits.ts';
import { cutText, withOptional, type TupleCodec } from './tuple-codec.ts';
import type { TupleReader } from './tuple-reader.ts';

const isThreshold = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_COUNT;

const packPolicy = (policy: PlannedPolicy): unknown[] => [
  policy.kind,
  policy.threshold ?? null,
  policy.kappa ?? null,
  policy.maxWaitMs ?? null,
];

/** One number for any number of requests alive, or a list. */
function readThreshold(reader: TupleReader): number | number[] | undefined {
  const value = reader.raw();
  if (value === undefined || isThreshold(value)) return value;
  const isTable = Array.isArray(value) && value.length > 0 && value.length <= MAX_THRESHOLDS;
  if (isTable && value.every(isThreshold)) return [...value];
  reader.fail('threshold');
  return undefined;
}

function readPolicy(reader: TupleReader): PlannedPolicy {
  const policy: PlannedPolicy = { kind: reader.name('kind') };
  const threshold = readThreshold(reader);
  const kappa = reader.optional('kappa', isMeasured);
  const maxWaitMs = reader.optional('maxWaitMs', isMeasured);
  return withOptional(policy, { threshold, kappa, maxWaitMs });
}

const packStep = (step: PlanStep): unknown[] => [
  step.alive,
  cutText(step.name, MAX_NAME_CHARS),
  step.tokensPerSecond,
  step.policies.map(packPolicy),
];

function readStep(reader: TupleReader): PlanStep {
  return {
    alive: reader.int('alive', 1),
    name: reader.text('name', MAX_NAME_CHARS),
    tokensPerSecond: reader.required('tokensPerSecond', isMeasured, 0),
    policies: required(reader, 'policies', reader.listOf('policies', MAX_MODEL_ID, readPolicy)),
  };
}

/** A list that must be there, with one item at least. */
function required<T>(reader: TupleReader, field: string, list: T[] | undefined): T[] {
  if (!list || list.length === 0) reader.fail(field);
  return list ?? [];
}

export const planCodec: TupleCodec<'plan'> = {
  pack: (m) => [m.model, m.replica, m.number, m.routing.map((row) => [row]), m.steps.map(packStep)],
  read: (reader) => ({
    kind: 'plan',
    model: reader.model('model'),
    replica: reader.name('replica'),
    number: reader.int('number'),
    routing: required(
      reader,
      'routing',
      reader.listOf('routing', MAX_MODEL_ID, (row) => readNumbers(row, 'row', MAX_MODEL_ID, isMeasured)),
    ),
    steps: required(reader, 'steps', reader.listOf('steps', MAX_PLAN_STEPS, readStep)),
  }),
};
