import { uniform } from '../../core/random.ts';
import type { RouterFactory } from '../../routers/router.ts';
import { hashTokens, scriptedPair, type ScriptedModel } from './chain-engine.ts';
import type { Chaos } from './chaos-scenario.ts';

/** Sends each request to a model drawn by its seed and position; what was written stays. */
export const drawnDestinations: RouterFactory = ({ self, models }) => ({
  name: 'drawn',
  needs: {},
  onHandoff: 'keep',
  route: (rows) =>
    rows.map(({ sampling, position }) => {
      const draw = uniform({ seed: sampling.seed, position, model: self, purpose: 'route' });
      const stays = uniform({ seed: sampling.seed, position, model: self, purpose: 'admission' }) < 0.3;
      return stays ? 0 : 1 + Math.floor(draw * models.length);
    }),
});

/** The models of a scenario, home first. */
export function scriptedModels(scenario: Chaos): ScriptedModel[] {
  const pair = scriptedPair(scenario.pUnsure, scenario.meanSpan);
  if (scenario.numModels === 2) return [pair.small, pair.large];
  return [17, 18, 19].map((salt) => (tokens) => ({
    token: 1 + (hashTokens(tokens, salt) % 900) * (hashTokens(tokens, salt + 50) % 40 === 0 ? 0 : 1),
    entropy: 0,
  }));
}
