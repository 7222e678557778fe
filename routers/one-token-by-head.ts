import { guestModel } from './guest-model.ts';
import { atGuest, atHome } from './one-token-guest.ts';
import { readOptions } from './options.ts';
import { routerHead, scoreOf } from './router-head.ts';
import type { Router, RouterContext } from './router.ts';

/** What sets apart the algorithms that ask one network whether the home's token stands. */
export interface HeadAlgorithm {
  name: string;
  /** Of the network that the option `head` names. */
  architecture: string;
  /** Where neither the option nor the file tells one. */
  defaultThreshold: number;
  /** Whether the home's own token stands. Must be false for NaN, so that the stronger model decides. */
  isSure: (score: number, threshold: number) => boolean;
}

/** A router whose home decides by a trained network and whose guest writes one token and returns: R2R, CITER. */
export function oneTokenByHead(context: RouterContext, algorithm: HeadAlgorithm): Router {
  const { name, architecture, defaultThreshold, isSure } = algorithm;
  const options = readOptions(name, context, {
    head: { kind: 'file' },
    threshold: { kind: 'optional-number', min: 0, max: 1 },
    guest: { kind: 'model' },
  });
  const guest = guestModel(name, context, options.guest);
  if (context.self !== context.home) return atGuest(name, context.home);
  const head = routerHead(name, options.head, architecture);
  const threshold = options.threshold ?? head.threshold ?? defaultThreshold;
  return atHome(name, guest, {
    needs: { heads: [head.spec] },
    signal: (row) => scoreOf(row, head.spec),
    isSure: (score) => isSure(score, threshold),
  });
}
