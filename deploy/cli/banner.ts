import type { ResolvedConfig } from '../config/deployment.ts';
import type { BrokerInfo } from '../roles/broker.ts';
import type { SubserverInfo } from '../roles/subserver.ts';
import { Subjects } from '../../transport/subjects.ts';
import { formatCount } from './format.ts';

function modelLine(info: SubserverInfo, isHome: boolean): string {
  const { engine } = info;
  const labels = [
    ...(engine.hasRandomWeights ? ['RANDOM WEIGHTS: answers are noise'] : []),
    ...(engine.kind === 'onnx' ? [] : [engine.kind.toUpperCase()]),
    ...(isHome ? ['home'] : []),
    ...engine.notes,
  ];
  return `  ${info.model}: ${formatCount(engine.numParameters)} parameters, ${engine.architecture}, ${labels.join(', ')}\n    ${info.path}`;
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
  const home = deployment.models[deployment.home - 1]?.name;
  const lines = [
    `tokenrail is ready at ${launched.url}`,
    '',
    `broker: ${launched.broker.description}`,
    ...(launched.broker.limits.length === 0 ? [] : [`  limits: ${launched.broker.limits.join(', ')}`]),
    'models:',
    ...launched.subservers().map((info) => modelLine(info, info.model === home)),
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
