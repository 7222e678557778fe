import { Packr } from 'msgpackr';
import type { ModelId } from '../../core/request.ts';
import type { BenchRequest } from './driver.ts';

const packr = new Packr({ useRecords: false });

/** A new request at the other model: the whole text so far, with what is needed to go on. */
export interface RestartRequest extends BenchRequest {
  /** Prompt and answer so far. */
  sequence: readonly number[];
}

/** Tokens for the client, one frame per step. `failure` and `isLast` end the request. */
export interface RestartUpdate {
  id: number;
  token: number | null;
  model: ModelId;
  isLast: boolean;
  failure?: string;
}

export const encodeRequest = (request: RestartRequest): Uint8Array => packr.pack(request);
export const decodeRequest = (payload: Uint8Array): RestartRequest => packr.unpack(payload) as RestartRequest;
export const encodeUpdates = (updates: readonly RestartUpdate[]): Uint8Array => packr.pack(updates);
export const decodeUpdates = (payload: Uint8Array): RestartUpdate[] =>
  packr.unpack(payload) as RestartUpdate[];
