import type { CompleteSimulatedOptions } from './options.ts';
import type { RoutingLaw } from './routing-law.ts';

function lawText(law: RoutingLaw): string {
  if (law.kind === 'correlated') return `correlated draws (${law.rho})`;
  if (law.kind === 'bernoulli') return 'independent draws';
  return `${law.kind} runs, leaving with probability ${law.leave}`;
}

/** What the start-up log and banners say of a simulated engine. */
export function describeSimulation({ stepTime, law }: CompleteSimulatedOptions): string[] {
  const { baseMs, perRowMs = 0, perTokenMs = 0, prefillPerTokenMs = 0, jitter = 0 } = stepTime;
  const terms = [
    `${baseMs} ms`,
    ...(perRowMs > 0 ? [`${perRowMs} ms per row`] : []),
    ...(perTokenMs > 0 ? [`${perTokenMs} ms per token beyond one`] : []),
    ...(prefillPerTokenMs > 0 ? [`${prefillPerTokenMs} ms per prompt token`] : []),
  ];
  const spread = jitter > 0 ? `, ± ${100 * jitter} %` : '';
  return [
    'simulated: no model runs, tokens mean nothing',
    `step ${terms.join(' + ')}${spread}`,
    lawText(law),
  ];
}
