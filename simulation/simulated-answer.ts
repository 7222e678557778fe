import {
  extendHash,
  hashOf,
  routingSignals,
  TokenChoice,
  type RoutingLaw,
} from '../engine/simulated/index.ts';
import { destinationOf, type RoutingMatrices } from '../routers/simulated.ts';
import { SIMULATED_VOCABULARY } from './simulated-system.ts';

/** A request and what came of it. */
export interface SimulatedAnswer {
  seed: number;
  prompt: readonly number[];
  ids: readonly number[];
  models: readonly number[];
}

/**
 * The plain loop for one request over simulated models: no batches, queues or messages. What the asynchronous runtime
 * writes must equal it token for token, or a position, a rollback or a row went wrong somewhere.
 */
export class SequentialOracle {
  private readonly choices: readonly TokenChoice[];
  private readonly signals: readonly ReturnType<typeof routingSignals>[];

  /** @param laws by model id − 1 */
  constructor(laws: readonly RoutingLaw[], lawSeed: number) {
    this.choices = laws.map((_, i) => new TokenChoice(i + 1, SIMULATED_VOCABULARY, []));
    this.signals = laws.map((law, i) => routingSignals(law, i + 1, lawSeed));
  }

  /** Tokens of the answer that differ from the plain loop's, in the token or in its writer. */
  mismatches(answer: SimulatedAnswer, matrices: RoutingMatrices): number {
    const signals = this.signals.map((signalOf) => signalOf(answer.seed));
    let hash = hashOf(answer.prompt);
    let at = 1;
    let numWrong = 0;
    for (let i = 0; i < answer.ids.length; i += 1) {
      const position = answer.prompt.length + i;
      let writer = 0;
      while (writer === 0) {
        const u = signals[at - 1]?.(position) ?? NaN;
        const to = destinationOf(u, matrices.routing[at - 1] ?? [], at) || at;
        if ((matrices.commits[at - 1]?.[to - 1] ?? 0) > 0) writer = at;
        at = to;
      }
      const token = this.choices[writer - 1]?.tokenAfter(hash) ?? -1;
      if (token !== answer.ids[i] || writer !== answer.models[i]) numWrong += 1;
      hash = extendHash(hash, token);
    }
    return numWrong;
  }

  /** The same where only the writers are given, because routing changed while the request ran. */
  mismatchesGivenWriters(answer: SimulatedAnswer): number {
    let hash = hashOf(answer.prompt);
    let numWrong = 0;
    answer.ids.forEach((id, i) => {
      const token = this.choices[(answer.models[i] ?? 0) - 1]?.tokenAfter(hash) ?? -1;
      if (token !== id) numWrong += 1;
      hash = extendHash(hash, token);
    });
    return numWrong;
  }
}
