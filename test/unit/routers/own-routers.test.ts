import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../core/log.ts';
import type { RouteRow, RouterFactory } from '../../../routers/router.ts';
import { sequentialAnswer } from '../../helpers/sequential-oracle.ts';
import { models, start } from '../../helpers/sim-pair.ts';
import { greedy, type SimDeployment } from '../../helpers/sim-deployment.ts';

afterEach(() => vi.restoreAllMocks());

const entry = { id: 'ours', use: 'ours', options: {} };
const startWith = (factory: RouterFactory): Promise<SimDeployment> =>
  start({ routers: [entry], factories: { ours: factory } });

const PROMPT = [5, 6, 7, 8];

describe('a router that looks back at the tokens', () => {
  const seen: { position: number; tokens: number[] }[] = [];
  /** Leaves where the last three tokens sum to a multiple of three: no other field of a row tells that. */
  const lookback: RouterFactory = ({ self, home }) => ({
    name: 'lookback',
    needs: {},
    onHandoff: self === home ? 'discard' : 'keep',
    route: (rows: readonly RouteRow[]) =>
      rows.map(({ tokens, position }) => {
        seen.push({ position, tokens: [...tokens] });
        return tokens.slice(-3).reduce((sum, id) => sum + id, 0) % 3 === 0 ? 3 - self : self;
      }),
  });

  it('gets the sequence without the sampled token, and the answer is that of the plain loop', async () => {
    const sim = await startWith(lookback);
    const init = sim.init(PROMPT.length, { maxTokens: 40 });
    const answer = sim.client.submit('req-1', PROMPT, init);
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 600_000);
    const oracleModels = new Map(
      models().map(({ model }, index) => {
        const router = sim.routers.get(index + 1)?.get('ours');
        if (!router) throw new Error('no router');
        return [index + 1, { model, router }] as const;
      }),
    );
    expect(new Set(answer.models).size).toBe(2);
    for (const { position, tokens } of seen) {
      expect(tokens).toEqual([...PROMPT, ...answer.ids].slice(0, position));
    }
    const expected = sequentialAnswer(oracleModels, 1, PROMPT, greedy, init.limits);
    expect(answer).toMatchObject({ ids: expected.ids, models: expected.models });
  });
});

describe('a router that throws', () => {
  it('fails each of its requests, and its stack is in the log once', async () => {
    const warned = vi.spyOn(silentLogger, 'warn');
    const thrown = new Error('no such neighbour');
    const sim = await startWith(() => ({
      name: 'thrower',
      needs: {},
      onHandoff: 'keep',
      route: () => {
        throw thrown;
      },
    }));
    for (const rid of ['req-1', 'req-2', 'req-3']) sim.client.submit(rid, PROMPT, sim.init(PROMPT.length));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 600_000);
    for (const { finish } of sim.client.streams.values()) expect(finish?.error?.code).toBe('router_failed');
    const lines = warned.mock.calls.filter(([, message]) => message === 'a router failed a request');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.[0]).toMatchObject({ rid: 'req-1', router: 'ours', err: thrown });
  });

  it('is named where it throws in a hook, and where it returns what is no model', async () => {
    const warned = vi.spyOn(silentLogger, 'warn');
    for (const [change, problem] of [
      [{ first: () => ([] as number[][])[0]!.length }, /thrower: first threw/],
      [{ route: (rows: readonly RouteRow[]) => rows.map(() => 9) }, /destination 9 is no model/],
    ] as const) {
      const router = { name: 'thrower', needs: {}, onHandoff: 'keep', route: () => [0] } as const;
      const sim = await startWith(() => ({ ...router, ...change }));
      const stream = sim.client.submit('req-1', PROMPT, sim.init(PROMPT.length));
      await sim.clock.runUntil(() => sim.client.numOpen === 0, 600_000);
      expect(stream.finish?.error?.code ?? stream.rejectedWith).toBe('router_failed');
      const [fields] = warned.mock.calls.at(-1) ?? [];
      expect(fields).toMatchObject({ router: 'ours', problem: expect.stringMatching(problem) as string });
      expect((fields as { err: Error }).err.stack).toBeTypeOf('string');
    }
  });
});
