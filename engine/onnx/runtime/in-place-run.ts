import { OUTPUT } from '../graph/io-names.ts';
import type { Feeds, Fetches, Session } from './ort-session.ts';

/**
 * Exactly what the binding of onnxruntime-node 1.30.0 throws on meeting an output that is no tensor. Matching
 * a message is against the rules of the house; the binding offers nothing else to match.
 */
const STOPPED_AT_SEQUENCE = 'Non tensor type is temporarily not supported.';

/**
 * Runs a graph without copying its outputs. The binding copies every fetched output, also those the caller
 * allocated, so a step would cost O(buffer) per key and value buffer. It does so after the runtime has
 * finished, output by output; our graphs declare a sequence as their first output, at which the binding gives
 * up. By then everything stands in the tensors of `fetches`, among them keys and values that are their own past.
 *
 * @returns false where the binding did not stop: the results are right, but were copied
 */
export function runInPlace(session: Session, feeds: Feeds, fetches: Fetches): boolean {
  fetches[OUTPUT.done] = null;
  try {
    session.run(feeds, fetches);
    return false;
  } catch (error) {
    if (error instanceof Error && error.message === STOPPED_AT_SEQUENCE) return true;
    throw error;
  }
}
