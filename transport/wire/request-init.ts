import type { RequestLimits, SamplingParams } from '../../core/request.ts';
import type { HomeAddress, RequestInit } from '../messages.ts';
import { MAX_COUNT, MAX_STOP_IDS, MAX_TOKENS_PER_MESSAGE } from './limits.ts';
import { packTokens, readTokens } from './token-ids.ts';
import { isName } from './patterns.ts';
import { withOptional } from './tuple-codec.ts';
import type { TupleReader } from './tuple-reader.ts';

export function packSampling({ temperature, topP, topK, minP, seed }: SamplingParams): unknown[] {
  return [temperature, topP, topK, minP, seed];
}

export function packInit(init: RequestInit): unknown[] {
  return [
    init.promptLen,
    packSampling(init.sampling),
    [init.limits.maxTokens, packTokens(init.limits.stopIds)],
    init.router,
    init.configHash ?? null,
  ];
}

export function readSampling(reader: TupleReader): SamplingParams {
  const temperature = reader.number('temperature', 0);
  const topP = reader.number('topP', 0, 1);
  if (topP === 0) reader.fail('topP');
  const topK = reader.int('topK', -1);
  const minP = reader.number('minP', 0, 1);
  const isInteger = (value: unknown): value is number => Number.isInteger(value);
  return { temperature, topP, topK, minP, seed: reader.required('seed', isInteger, 0) };
}

function readLimits(reader: TupleReader): RequestLimits {
  return {
    maxTokens: reader.int('maxTokens', 1, MAX_COUNT),
    stopIds: readTokens(reader, 'stopIds', MAX_STOP_IDS),
  };
}

export function readOptionalInit(reader: TupleReader, field: string): RequestInit | undefined {
  return reader.tupleOf(field, (inner) => {
    const promptLen = inner.int('promptLen', 0, MAX_TOKENS_PER_MESSAGE);
    const sampling = inner.tupleOf('sampling', readSampling);
    const limits = inner.tupleOf('limits', readLimits);
    const router = inner.name('router');
    const configHash = inner.optional('configHash', isName);
    if (sampling !== undefined && limits !== undefined) {
      return withOptional<RequestInit>({ promptLen, sampling, limits, router }, { configHash });
    }
    inner.fail(sampling === undefined ? 'sampling' : 'limits');
    return undefined;
  });
}

export function packHome(home: HomeAddress): unknown[] {
  return [home.model, home.replica];
}

export function readHome(reader: TupleReader, field: string): HomeAddress {
  const home = reader.tupleOf(field, (inner) => ({
    model: inner.model('model'),
    replica: inner.name('replica'),
  }));
  if (home !== undefined) return home;
  reader.fail(field);
  return { model: 1, replica: '' };
}
