import type { ResolvedConfig } from '../config/deployment.ts';
import type { BrokerInfo } from '../roles/broker.ts';
import type { SubserverInfo } from '../roles/subserver.ts';
import { Subjects } from '../../transport/subjects.ts';
import { formatCount } from './format.ts';

/** One line per model, from the first of its replicas that has told about itself. */
function modelLines(infos: readonly SubserverInfo[], { deployment, models }: ResolvedConfig): string[] {
  return models.flatMap(({ id, name, numReplicas }) => {
    const info = infos.find(({ model }) => model === name);
    if (info === undefined) return [];
    const { engine } = info;
    const labels = [
      ...(engine.kind === 'simulated'
        ? []
        : [`${formatCount(engine.numParameters)} parameters`, engine.architecture]),
      ...(engine.hasRandomWeights ? ['RANDOM WEIGHTS: answers are noise'] : []),
      ...(engine.kind === 'onnx' ? [] : [engine.kind.toUpperCase()]),
      ...(id === deployment.home ? ['home'] : []),
      ...(numReplicas === 1 ? [] : [`${numReplicas} replicas`]),
      // The engine notes it too.
      ...engine.notes.filter((note) => !(engine.hasRandomWeights && note.startsWith('random weights'))),
    ];
    return [`  ${name}: ${labels.join(', ')}`, `    ${info.path}`];
  });
}

/** A line to copy. The key itself is not printed. */
function curlLine(url: string, resolved: ResolvedConfig): string {
  const body = JSON.stringify({
    model: resolved.config.servedModelName[0],
    messages: [
      {
        role: 'user',
        content:
          'There are 28 peaches on the table of Willa. Willa finds 2 bags of 9 peaches. How many peaches does Willa own now?',
      },
    ],
  });
  const key = resolved.config.apiKey.length === 0 ? '' : ` -H 'authorization: Bearer YOUR_KEY'`;
  return `curl ${url}/v1/chat/completions -H 'content-type: application/json'${key} -d '${body}'`;
}

/** What `serve` prints once it can answer. */
export function readyBanner(
  launched: { url: string; broker: BrokerInfo; subservers(): readonly SubserverInfo[] },
  resolved: ResolvedConfig,
): string {
  const { deployment } = resolved;
  const lines = [
    `tokenrail is ready at ${launched.url}`,
    '',
    `broker: ${launched.broker.description}`,
    ...(launched.broker.limits.length === 0 ? [] : [`  limits: ${launched.broker.limits.join(', ')}`]),
    'models:',
    ...modelLines(launched.subservers(), resolved),
    `router: ${deployment.defaultRouter} (also ${
      deployment.routers
        .map(({ id }) => id)
        .filter((id) => id !== deployment.defaultRouter)
        .join(', ') || 'none'
    })`,
    `NATS subject for requests: ${new Subjects(deployment.namespace).requests()}`,
    '',
    'Try:',
    `  ${curlLine(launched.url, resolved)}`,
    '',
    'Ctrl-C ends it.',
  ];
  return `${lines.join('\n')}\n`;
}
