import type { Router, RouterContext } from '../routers/router.ts';

/** The large model writes wherever the two best tokens of the current writer are close to each other. */
export default function closeCall({ self, home, models, options }: RouterContext): Router {
  const { minGap = 2, ...unknown } = options;
  if (typeof minGap !== 'number') throw new Error('option "minGap" must be a number of nats');
  if (Object.keys(unknown).length > 0) throw new Error(`unknown options: ${Object.keys(unknown).join(', ')}`);

  const isHome = self === home;
  const guest = models.find((model) => model.id !== home)?.id ?? home;
  return {
    name: 'close-call',
    needs: { topK: 2 },
    onHandoff: isHome ? 'discard' : 'keep',
    route: (rows) =>
      rows.map(({ topValues: [best = 0, second = 0] = [] }) => {
        const isClose = !(best - second >= minGap); // NaN counts as close
        return isClose ? guest : home;
      }),
  };
}
