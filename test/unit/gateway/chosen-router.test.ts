import { describe, expect, it } from 'vitest';
import { chosenRouter } from '../../../actors/gateway/chosen-router.ts';

const served = ['tokenrail', 'org/pair', 'org/pair:latest'];
const deployment = {
  routers: ['r-stitch', 'r2r', 'latest'].map((id) => ({ id, use: id, options: {} })),
  defaultRouter: 'r-stitch',
};
const choose = (model: string, router?: string): string =>
  chosenRouter({ model, router }, served, deployment);
const error = (code: string, param: string): Error => expect.objectContaining({ code, param }) as Error;

describe('the router of a request', () => {
  it('is the field, else what follows the served name, else the default', () => {
    expect(choose('tokenrail')).toBe('r-stitch');
    expect(choose('tokenrail', 'r2r')).toBe('r2r');
    expect(choose('tokenrail:r2r')).toBe('r2r');
    expect(choose('org/pair:r2r', 'r2r')).toBe('r2r');
  });

  it('is none where the whole is a served name; the longest name counts', () => {
    expect(choose('org/pair:latest')).toBe('r-stitch');
    expect(choose('org/pair:latest:r2r')).toBe('r2r');
  });

  it('is refused where it is unknown, or named differently in both fields', () => {
    expect(() => choose('tokenrail:r3r')).toThrow(error('invalid_request', 'model'));
    expect(() => choose('tokenrail', 'r3r')).toThrow(error('invalid_request', 'router'));
    expect(() => choose('tokenrail:r2r', 'r-stitch')).toThrow(error('invalid_request', 'router'));
  });

  it('does not make a model out of another name', () => {
    for (const model of ['other', 'other:r2r', 'tokenrail:', 'tokenrailr2r', 'r2r'])
      expect(() => choose(model)).toThrow(error('model_not_found', 'model'));
  });
});
