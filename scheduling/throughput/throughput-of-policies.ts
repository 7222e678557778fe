import type { ModelId } from '../../core/request.ts';
import type { StartPolicy } from '../policy.ts';
import { buildChain } from './build-chain.ts';
import { completeSpec, type ChainSpec } from './chain-spec.ts';
import { policyStarter } from './policy-starter.ts';
import { solveChain, type Throughput } from './throughput.ts';

/**
 * The exact throughput of any stationary policies, one per model: {@link policyStarter} over the embedded chain.
 *
 * @param home the model that decides first; default 1
 * @throws TokenrailError `config_invalid` for a wrong specification or too many states
 */
export function throughputOfPolicies(
  spec: ChainSpec,
  policies: readonly StartPolicy[],
  home: ModelId = 1,
): Throughput {
  const complete = completeSpec(spec);
  return solveChain(complete, buildChain(complete, policyStarter(complete, policies, home)));
}
