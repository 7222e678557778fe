import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type * as machines from '../../machines/index.ts';
import { ChaosRun } from '../helpers/chaos-run.ts';
import { chaos } from '../helpers/chaos-scenario.ts';

const illegal = vi.hoisted(() => [] as string[]);

/** Every event that a request's machine refuses is a step that the subserver should not have taken. */
vi.mock('../../machines/index.ts', async (importOriginal) => {
  const original = await importOriginal<typeof machines>();
  return {
    ...original,
    createRequestLifecycle: (rid: string): machines.RequestLifecycle => {
      const lifecycle = original.createRequestLifecycle(rid);
      const send = lifecycle.send.bind(lifecycle);
      lifecycle.send = (event) => {
        const before = lifecycle.state;
        const isLegal = send(event);
        if (!isLegal) illegal.push(`${before} ${event.type}`);
        return isLegal;
      };
      return lifecycle;
    },
  };
});

const numRuns = Number(process.env['TOKENRAIL_PROPERTY_RUNS'] ?? 40);

describe('whatever happens to requests, replicas and messages', () => {
  for (const numModels of [2, 3] as const) {
    it(`${numModels} models: every token is right, every request ends, nothing is left behind`, async () => {
      let numHandoffs = 0;
      let numExact = 0;
      let numRequests = 0;
      await fc.assert(
        fc.asyncProperty(chaos(numModels), async (scenario) => {
          illegal.length = 0;
          const run = await new ChaosRun(scenario).run();
          run.verify();
          expect([...new Set(illegal)]).toEqual([]);
          numHandoffs += run.numHandoffs;
          numExact += run.numExact;
          numRequests += scenario.numRequests;
        }),
        { numRuns },
      );
      expect(numHandoffs).toBeGreaterThan(numRuns);
      expect(numExact).toBeGreaterThan(numRequests / 3);
    });
  }
});
