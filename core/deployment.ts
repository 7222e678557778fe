import type { ModelId } from './request.ts';

/** One model of a deployment, as every process of it knows the model. */
export interface ModelEntry {
  /** 1..M, in the order of the configuration. */
  id: ModelId;
  /** The name used in subjects (encoded), metrics and `tokens_by_model`. */
  name: string;
}

/** A router that requests of this deployment may ask for. */
export interface RouterEntry {
  /** The name requests use, such as `r-stitch`. */
  id: string;
  /** A built-in router's name, or the path of a module that exports one. */
  use: string;
  /** Passed to the router as they are; the router validates them. */
  options: Readonly<Record<string, unknown>>;
}

/** What all processes of a deployment must agree on. Its hash travels in every heartbeat. */
export interface Deployment {
  /** First token of every subject. */
  namespace: string;
  models: readonly ModelEntry[];
  /** The model that admits requests and owns them. */
  home: ModelId;
  routers: readonly RouterEntry[];
  /** Id of the router used where a request names none. */
  defaultRouter: string;
}
