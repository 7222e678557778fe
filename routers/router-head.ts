import type { HeadSpec } from '../engine/engine.ts';
import { readHeadMetadata } from './head-metadata.ts';
import { optionError } from './options.ts';
import type { RouteRow } from './router.ts';

/** A trained network as its router sees it. */
export interface RouterHead {
  spec: HeadSpec;
  /** The threshold that training found, where the file tells it. */
  threshold: number | undefined;
}

/**
 * The network that option `head` names. Only the model that runs it needs the file.
 * @throws TokenrailError `config_invalid` naming the router and what is wrong with the file
 */
export function routerHead(router: string, file: string | undefined, architecture: string): RouterHead {
  if (file === undefined) throw optionError(router, 'head', 'is missing: the file of the trained network');
  const fail = (problem: string): Error => optionError(router, 'head', problem);
  let metadata: Readonly<Record<string, string>>;
  try {
    metadata = readHeadMetadata(file);
  } catch (thrown) {
    throw fail(`cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  const { architecture: found, threshold: text } = metadata;
  if (found !== architecture)
    throw fail(`${file} holds ${found ?? 'no named architecture'}, this router needs ${architecture}`);
  const threshold = text === undefined ? undefined : text.trim() === '' ? NaN : Number(text);
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 1))
    throw fail(`${file} has the threshold "${text ?? ''}", not a number from 0 to 1`);
  return { spec: { file, architecture }, threshold };
}

/**
 * The row's score of the head; NaN where the engine could compute none.
 * @throws Error where the engine runs no heads, so that the request fails instead of going astray
 */
export function scoreOf(row: RouteRow, head: HeadSpec): number {
  const score = row.scores?.[head.file];
  if (score === undefined) throw new Error(`the engine gave no score of ${head.file}`);
  return score;
}
