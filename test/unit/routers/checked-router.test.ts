import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { routeChecked } from '../../../routers/checked-router.ts';
import type { RouteRow, Router } from '../../../routers/router.ts';
import { rowsWithEntropy } from './rows.ts';

const SCOPE = { self: 2, numModels: 3 };

function routerOf(route: (rows: readonly RouteRow[]) => unknown): Router {
  return { name: 'mine', needs: {}, onHandoff: 'keep', route: route as Router['route'] };
}

const failureOf = (router: Router, rows = rowsWithEntropy(0.1)): string => {
  const { failures } = routeChecked(router, rows, SCOPE);
  const failure = failures.get(0);
  expect(failure?.code).toBe('router_failed');
  expect(failure?.message).toContain('mine');
  return failure?.message ?? '';
};

describe('routeChecked', () => {
  it('asks once for the whole step and takes oneself as "stay"', () => {
    let calls = 0;
    const router = routerOf((rows) => {
      calls += 1;
      return rows.map((_, index) => index % 4);
    });
    const { destinations, failures } = routeChecked(router, rowsWithEntropy(0, 0, 0, 0), SCOPE);
    expect([...destinations]).toEqual([0, 1, 0, 3]);
    expect([failures.size, calls]).toEqual([0, 1]);
  });

  it('asks nothing for no rows', () => {
    const router = routerOf(() => {
      throw new Error('asked');
    });
    expect(routeChecked(router, [], SCOPE).failures.size).toBe(0);
  });

  it('fails only the rows with a wrong destination', () => {
    const wrong = [NaN, 1.5, -1, 4, Infinity, '1', null, undefined, 1n, {}];
    const rows = rowsWithEntropy(...wrong.map(() => 0), 0.5);
    const { destinations, failures } = routeChecked(
      routerOf(() => [...wrong, 1]),
      rows,
      SCOPE,
    );
    expect([...failures.keys()]).toEqual(wrong.map((_, index) => index));
    expect(destinations[wrong.length]).toBe(1);
    expect(
      [...failures.values()].every(
        ({ code, message }) => code === 'router_failed' && message.includes('mine'),
      ),
    ).toBe(true);
  });

  it('asks row by row after a throw, and fails only those it throws on', () => {
    const router = routerOf((rows) =>
      rows.map((row) => {
        if (row.normalizedEntropy > 0.5) throw new Error(`too hot at ${row.rid}`);
        return 1;
      }),
    );
    const { destinations, failures } = routeChecked(router, rowsWithEntropy(0.1, 0.9, 0.2), SCOPE);
    expect([...failures.keys()]).toEqual([1]);
    expect(failures.get(1)?.message).toContain('too hot at req-1');
    expect([destinations[0], destinations[2]]).toEqual([1, 1]);
  });

  it('asks row by row after a wrong length', () => {
    const shortOnBatches = routerOf((rows) => (rows.length > 1 ? [1] : [3]));
    const { destinations, failures } = routeChecked(shortOnBatches, rowsWithEntropy(0.1, 0.2), SCOPE);
    expect([[...destinations], failures.size]).toEqual([[3, 3], 0]);
    const alwaysShort = routeChecked(
      routerOf(() => []),
      rowsWithEntropy(0.1, 0.2),
      SCOPE,
    );
    expect([...alwaysShort.failures.keys()]).toEqual([0, 1]);
  });

  it('asks for a lone row once only', () => {
    let calls = 0;
    const message = failureOf(
      routerOf(() => {
        calls += 1;
        throw new Error('no');
      }),
    );
    expect([message.includes('no'), calls]).toEqual([true, 1]);
  });

  it('takes typed arrays, and no strings, promises or nothing at all', async () => {
    const typed = routeChecked(
      routerOf(() => Uint8Array.from([3])),
      rowsWithEntropy(0),
      SCOPE,
    );
    expect(typed.destinations[0]).toBe(3);
    for (const bad of ['3', undefined, null, 7, { length: '1' }]) failureOf(routerOf(() => bad));
    expect(failureOf(routerOf(() => Promise.reject(new Error('late'))))).toContain('synchronous');
    // An unhandled rejection would fail the run here.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('survives results that throw when they are read', () => {
    const hostile = new Proxy([0], {
      get(target, key) {
        if (key === '0') throw new Error('mine! do not read');
        return Reflect.get(target, key) as unknown;
      },
    });
    expect(failureOf(routerOf(() => hostile))).toContain('do not read');
  });

  it('gives every row exactly one outcome, whatever the router does', () => {
    const behaviour = fc.array(
      fc.oneof(fc.integer({ min: -1, max: 5 }), fc.constantFrom(NaN, 'throw', 'none')),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(behaviour, (script) => {
        const rows = rowsWithEntropy(...script.map(() => 0.5));
        const router = routerOf((asked) =>
          asked.flatMap((row) => {
            const action = script[Number(row.rid.slice(4))];
            if (action === 'throw') throw new Error('scripted');
            return action === 'none' ? [] : [action];
          }),
        );
        const { destinations, failures } = routeChecked(router, rows, SCOPE);
        script.forEach((action, index) => {
          const isValid = typeof action === 'number' && action >= 0 && action <= SCOPE.numModels;
          expect(failures.has(index)).toBe(!isValid);
          if (isValid) expect(destinations[index]).toBe(action === SCOPE.self ? 0 : action);
        });
      }),
    );
  });
});
