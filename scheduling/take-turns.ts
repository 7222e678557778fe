import { holdOrStart } from './escapes.ts';
import { waitForEndMs } from './expected-end.ts';
import type { Decision, QueueView, StartPolicy } from './policy.ts';
import { thresholdText } from './rows-to-wait-for.ts';
import { isThresholdReached, type ThresholdOptions } from './threshold.ts';

/**
 * For models that share a device: never starts while another model runs, and then only with `threshold` rows. Where
 * contention is strong, two steps at once take longer than one after the other.
 */
export function takeTurnsPolicy({ threshold, maxWaitMs }: ThresholdOptions): StartPolicy {
  const decide = (view: QueueView): Decision => {
    const busyMs = view.peers.reduce((longest, peer) => {
      return peer.model === view.self ? longest : Math.max(longest, waitForEndMs(view, peer));
    }, 0);
    if (busyMs > 0) return holdOrStart(view, maxWaitMs, busyMs);
    return isThresholdReached(view, threshold) ? { kind: 'start' } : holdOrStart(view, maxWaitMs, maxWaitMs);
  };
  return { name: `take-turns(${thresholdText(threshold)})`, decide };
}
