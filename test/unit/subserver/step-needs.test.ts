import { expect, it } from 'vitest';
import { stepNeeds } from '../../../actors/subserver/step-needs.ts';

const head = (file: string) => ({ file });
const routers = new Map([
  ['plain', { needs: {} }],
  ['a', { needs: { heads: [head('a')] } }],
  ['b', { needs: { heads: [head('b')], topK: 64 } }],
  ['both', { needs: { heads: [head('b'), head('a')], topK: 8, logits: true } }],
]);

it('a step asks for what its rows’ routers declared, whatever else is allowed', () => {
  expect(stepNeeds(['plain', 'plain'], routers)).toEqual({ needs: {} });
  expect(stepNeeds(['a', 'a'], routers)).toEqual({ needs: { heads: [head('a')] } });
  expect(stepNeeds([], routers).needs).toEqual({});
});

it('in a step of several routers each row asks for its own', () => {
  const { needs, ofRow } = stepNeeds(['a', 'plain', 'b', 'a'], routers);
  expect(needs).toEqual({ heads: [head('a'), head('b')], topK: 64 });
  expect(ofRow).toEqual(['a', 'plain', 'b', 'a'].map((id) => routers.get(id)?.needs));
  const union = stepNeeds(['both', 'b', 'a'], routers).needs;
  expect(union).toEqual({ heads: [head('b'), head('a')], topK: 64, logits: true });
});

it('a router that is gone asks for nothing', () => {
  expect(stepNeeds(['gone'], routers)).toEqual({ needs: {} });
});
