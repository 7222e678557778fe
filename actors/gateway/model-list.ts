import type { Deployment } from '../../core/deployment.ts';
import { SEPARATOR } from './chosen-router.ts';
import { modelNotFound } from './model-not-found.ts';

/** One entry of /v1/models, in OpenAI's format with vLLM's additions. */
export interface ModelCard {
  id: string;
  object: 'model';
  created: number;
  owned_by: 'tokenrail';
  /** The canonical served name. */
  root: string;
  /** The served name that a router's own entry belongs to. */
  parent: string | null;
  /** Prompt and answer together; null until a replica of every model was heard of. */
  max_model_len: number | null;
  tokenrail: {
    /** What a request that asks for this entry is routed by. */
    router: string;
    is_default: boolean;
    /** All models of the deployment, any of which may write tokens; the home first asked. */
    models: string[];
    home: string;
  };
}

export interface ModelListOptions {
  servedModelNames: readonly string[];
  deployment: Deployment;
  /** Seconds since the epoch at which the gateway started. */
  createdSeconds: number;
  maxModelLenTokens: () => number | undefined;
}

/** What clients may ask for as `model`: every served name, and with each router of the deployment behind it. */
export class ModelList {
  private readonly options: ModelListOptions;

  constructor(options: ModelListOptions) {
    this.options = options;
  }

  /** Plain names first: clients without a choice take the first entry. */
  all(): ModelCard[] {
    const { servedModelNames, deployment } = this.options;
    const plain = servedModelNames.map((name) => this.card(name, null, deployment.defaultRouter));
    const routed = servedModelNames.flatMap((name) =>
      deployment.routers.map(({ id }) => this.card(`${name}${SEPARATOR}${id}`, name, id)),
    );
    // A served name may hold the separator; it is then what the name means.
    return [...new Map([...routed, ...plain].map((card) => [card.id, card])).values()].sort(
      (a, b) => Number(a.parent !== null) - Number(b.parent !== null),
    );
  }

  /** @throws TokenrailError `model_not_found` */
  get(id: string): ModelCard {
    const card = this.all().find((one) => one.id === id);
    if (card === undefined) throw modelNotFound(id);
    return card;
  }

  private card(id: string, parent: string | null, router: string): ModelCard {
    const { servedModelNames, deployment, createdSeconds, maxModelLenTokens } = this.options;
    const { models, home, defaultRouter } = deployment;
    return {
      id,
      object: 'model',
      created: createdSeconds,
      owned_by: 'tokenrail',
      root: servedModelNames[0] ?? '',
      parent,
      max_model_len: maxModelLenTokens() ?? null,
      tokenrail: {
        router,
        is_default: router === defaultRouter,
        models: models.map(({ name }) => name),
        home: models.find((model) => model.id === home)?.name ?? '',
      },
    };
  }
}
