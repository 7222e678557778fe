import type { RecordingHeader } from '../recording/header.ts';
import type { Agreement } from './agreement.ts';
import type { Divergence } from './divergence.ts';

/** Decisions of one model's side of a router. */
export interface ModelDecisions extends Agreement {
  model: string;
  isHome: boolean;
}

/** One request at its home. */
export interface RequestDecisions {
  rid: string;
  steps: number;
  sentServed: number;
  /** Per variant. */
  sentReplayed: number[];
  same: number[];
}

/** Where requests begin, by destination as in {@link Agreement}. */
export interface Beginnings {
  served: number[];
  replayed: number[];
  same: number;
}

export interface VariantReport {
  label: string;
  threshold: number | null;
  models: ModelDecisions[];
  beginnings: Beginnings;
  divergence: Divergence & { precision: number | null; recall: number | null };
  /** Steps and beginnings on which the router failed; they are in no other count. */
  failures: number;
  /** The first of them. */
  failure: string | null;
}

/** What `tokenrail replay` finds out; with `--json` it is printed as it is. */
export interface ReplayReport {
  file: string;
  router: string;
  recordedAt: string;
  configHash: string;
  /** Routers that served the recorded requests, with their steps. */
  servedBy: Record<string, number>;
  models: string[];
  /** Models whose tokens mean nothing, and why. */
  labels: string[];
  requests: number;
  /** Requests whose end was not recorded. */
  unfinished: number;
  steps: number;
  /** Steps left out because a part of their sequence was not recorded. */
  incomplete: number;
  /** Lost while recording; null where the recording was cut short and does not tell. */
  missed: number | null;
  isCut: boolean;
  variants: VariantReport[];
  perRequest: RequestDecisions[];
  /** What the numbers do not say. */
  limit: string;
}

export const LIMIT =
  'Decisions are on the recorded trajectory: after another decision the answer might have gone on otherwise.';

export function labelsOf({ models }: RecordingHeader): string[] {
  return models.flatMap(({ name, engine, loadFormat }) => [
    ...(engine === 'simulated' ? [`${name}: simulated engine, tokens mean nothing`] : []),
    ...(engine === 'onnx' && loadFormat === 'dummy' ? [`${name}: random weights, tokens mean nothing`] : []),
  ]);
}

export function withRates(divergence: Divergence): VariantReport['divergence'] {
  const { sent, sentDiffering, differing } = divergence;
  return {
    ...divergence,
    precision: sent === 0 ? null : sentDiffering / sent,
    recall: differing === 0 ? null : sentDiffering / differing,
  };
}
