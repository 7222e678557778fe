import type { Beacon, Heartbeat, SubserverState } from '../messages.ts';
import { packEstimates, packScheduling, readEstimates, readScheduling } from './estimates.ts';
import { MAX_COUNTERS, MAX_NAME_CHARS } from './limits.ts';
import { isFieldName } from './patterns.ts';
import { withOptional, type TupleCodec } from './tuple-codec.ts';
import type { TupleReader } from './tuple-reader.ts';

export const beaconCodec: TupleCodec<'beacon'> = {
  pack: (m) => [
    m.model,
    m.replica,
    m.rowsRunning,
    m.stepLeftMs,
    m.waiting,
    m.aliveAtHome,
    m.isDeciding ?? null,
    m.estimates === undefined ? null : packEstimates(m.estimates),
  ],
  read: (reader) => {
    const beacon: Beacon = {
      kind: 'beacon',
      model: reader.model('model'),
      replica: reader.name('replica'),
      rowsRunning: reader.int('rowsRunning'),
      stepLeftMs: reader.number('stepLeftMs', 0),
      waiting: reader.int('waiting'),
      aliveAtHome: reader.int('aliveAtHome'),
    };
    const isDeciding = reader.optional('isDeciding', isBoolean);
    const estimates = reader.tupleOf('estimates', readEstimates);
    return withOptional(beacon, { isDeciding, estimates });
  },
};

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

const STATES: readonly SubserverState[] = ['starting', 'serving', 'draining', 'stopped', 'failed'];

const isState = (value: unknown): value is SubserverState => STATES.includes(value as SubserverState);

/** `[name, value, name, value, …]`, like the algorithm fields. */
function readCounters(reader: TupleReader, field: string): Record<string, number> {
  const flat = reader.raw();
  const counters: Record<string, number> = {};
  if (!Array.isArray(flat) || flat.length % 2 !== 0 || flat.length > 2 * MAX_COUNTERS) {
    reader.fail(field);
    return counters;
  }
  for (let i = 0; i < flat.length; i += 2) {
    const name: unknown = flat[i];
    const value: unknown = flat[i + 1];
    if (
      typeof name === 'string' &&
      isFieldName(name) &&
      typeof value === 'number' &&
      Number.isFinite(value)
    ) {
      counters[name] = value;
    } else {
      reader.fail(field);
    }
  }
  return counters;
}

export const heartbeatCodec: TupleCodec<'heartbeat'> = {
  pack: (m) => [
    m.model,
    m.replica,
    m.instance,
    m.configHash,
    m.state,
    m.running,
    m.waiting,
    m.pending,
    m.kvUsedBlocks,
    m.kvTotalBlocks,
    m.maxModelLenTokens,
    m.stepAgeMs,
    Object.entries(m.counters).flat(),
    m.scheduling === undefined ? null : packScheduling(m.scheduling),
  ],
  read: (reader) => {
    const heartbeat = readHeartbeat(reader);
    return withOptional(heartbeat, { scheduling: reader.tupleOf('scheduling', readScheduling) });
  },
};

function readHeartbeat(reader: TupleReader): Heartbeat {
  return {
    kind: 'heartbeat',
    model: reader.model('model'),
    replica: reader.name('replica'),
    instance: reader.name('instance'),
    configHash: reader.text('configHash', MAX_NAME_CHARS),
    state: reader.required('state', isState, 'failed'),
    running: reader.int('running'),
    waiting: reader.int('waiting'),
    pending: reader.int('pending'),
    kvUsedBlocks: reader.int('kvUsedBlocks'),
    kvTotalBlocks: reader.int('kvTotalBlocks'),
    maxModelLenTokens: reader.int('maxModelLenTokens'),
    stepAgeMs: reader.number('stepAgeMs', 0),
    counters: readCounters(reader, 'counters'),
  };
}
