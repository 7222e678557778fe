import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** On which side of its threshold a signal sends the token to the large model. */
export type HandoffSide = 'above' | 'at-or-above' | 'below';

/** An algorithm with a threshold: one curve of the frontier. */
export interface Algorithm {
  name: string;
  /** For tables and legends. */
  label: string;
  /** Router and its options without the threshold. */
  use: string;
  options: Readonly<Record<string, string | number>>;
  side: HandoffSide;
  /** Whether the guest keeps the request for more than one token. */
  hasSpans: boolean;
  /** File of the trained network, where there is one. */
  head?: string;
}

/**
 * Algorithms by name; those with a network read it from `NAME/head.safetensors` below `headsDir`, which counts from the
 * working directory: the configuration that names the files lies elsewhere.
 */
export function algorithmsOf(headsDir: string): Algorithm[] {
  const head = (name: string): string => resolve(headsDir, name, 'head.safetensors');
  const trained = (name: string, label: string, side: HandoffSide): Algorithm => {
    const file = head(name);
    return { name, label, use: name, options: { head: file }, side, hasSpans: false, head: file };
  };
  const coLlm = trained('co-llm', 'Co-LLM', 'above');
  const compose = { ...coLlm.options, strategy: 'compose' };
  return [
    { name: 'r-stitch', label: 'R-Stitch', use: 'r-stitch', options: {}, side: 'above', hasSpans: true },
    {
      name: 'entropy',
      label: 'plain entropy (R-Stitch, one token at a time)',
      use: 'r-stitch',
      options: { maxSpanTokens: 1 },
      side: 'above',
      hasSpans: false,
    },
    trained('r2r', 'R2R', 'at-or-above'),
    trained('citer', 'CITER', 'below'),
    coLlm,
    { ...coLlm, name: 'co-llm-compose', label: 'Co-LLM, composing', options: compose },
  ];
}

export const isTrained = ({ head }: Algorithm): boolean => head !== undefined;

/** Algorithms whose network is there, and the files that are not. */
export function splitByHead(algorithms: readonly Algorithm[]): { ready: Algorithm[]; missing: Algorithm[] } {
  const isThere = ({ head }: Algorithm): boolean => head === undefined || existsSync(head);
  return {
    ready: algorithms.filter(isThere),
    missing: algorithms.filter((algorithm) => !isThere(algorithm)),
  };
}
