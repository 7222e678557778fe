import type { ModelId } from '../../core/request.ts';
import type { NeedsPrefix } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';

/** Asks the sender to repeat from `have`, the number of leading tokens held here. */
export function postNeedsPrefix(
  context: SubserverContext,
  about: { rid: string; term: number },
  to: ModelId,
  toReplica: string,
  hop: number,
  have: number,
): void {
  context.counters.add('needs_prefix_sent');
  const message: NeedsPrefix = {
    kind: 'needs-prefix',
    rid: about.rid,
    term: about.term,
    hop,
    from: context.options.self,
    fromReplica: context.options.replica,
    have,
  };
  context.outbox.post(context.subjects.replica(context.modelName(to), toReplica), message);
}
