import { expect, it } from 'vitest';
import { chosenRouter } from '../../../actors/gateway/chosen-router.ts';
import { ModelList, type ModelListOptions } from '../../../actors/gateway/model-list.ts';
import { deployment } from '../../helpers/gateway-deployment.ts';

const listOf = (change: Partial<ModelListOptions> = {}): ModelList =>
  new ModelList({
    servedModelNames: ['tokenrail', 'pair'],
    deployment,
    createdSeconds: 7,
    maxModelLenTokens: () => 512,
    ...change,
  });

it('lists the served names, then each with every router', () => {
  const cards = listOf().all();
  expect(cards.map(({ id }) => id)).toEqual([
    'tokenrail',
    'pair',
    'tokenrail:r-stitch',
    'tokenrail:always-small',
    'pair:r-stitch',
    'pair:always-small',
  ]);
  expect(cards[0]).toEqual({
    id: 'tokenrail',
    object: 'model',
    created: 7,
    owned_by: 'tokenrail',
    root: 'tokenrail',
    parent: null,
    max_model_len: 512,
    tokenrail: { router: 'r-stitch', is_default: true, models: ['small', 'large'], home: 'small' },
  });
  expect(cards[5]).toMatchObject({
    parent: 'pair',
    root: 'tokenrail',
    tokenrail: { router: 'always-small', is_default: false },
  });
});

it('says of each entry by which router a request for it goes', () => {
  const servedModelNames = ['m', 'm:r-stitch', 'org/m:x'];
  const cards = listOf({ servedModelNames }).all();
  expect(new Set(cards.map(({ id }) => id)).size).toBe(cards.length);
  for (const { id, tokenrail } of cards)
    expect(chosenRouter({ model: id }, servedModelNames, deployment)).toBe(tokenrail.router);
});

it('finds each by its name, and nothing else', () => {
  const list = listOf({ maxModelLenTokens: () => undefined });
  for (const card of list.all()) expect(list.get(card.id)).toEqual({ ...card, max_model_len: null });
  for (const id of ['tokenrail:', 'tokenrail:r2r', ':r-stitch', 'other'])
    expect(() => list.get(id)).toThrow(expect.objectContaining({ code: 'model_not_found' }) as Error);
});
