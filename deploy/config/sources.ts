import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { TokenrailError, toTokenrailError } from '../../core/errors.ts';
import { catalog } from './catalog.ts';
import type { CatalogEntry } from './catalog.ts';
import { fromFile } from './from-file.ts';
import { ENVIRONMENT_PREFIX, suggestion } from './names.ts';
import { parseText } from './parse-text.ts';
import { configSchema } from './schema.ts';

/** Variables with our prefix that are no keys of the configuration. */
const OTHER_VARIABLES = ['TOKENRAIL_CONFIG', 'TOKENRAIL_REQUIRE_NATS_SERVER'];

/** Values of one source, with how that source calls a key. */
export interface Source {
  values: Record<string, unknown>;
  nameOf(path: readonly PropertyKey[]): string;
}

const invalid = (message: string, param?: string): TokenrailError =>
  new TokenrailError('config_invalid', message, param === undefined ? {} : { param });

function setPath(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = '', ...rest] = path;
  if (rest.length === 0) target[head] = value;
  else setPath((target[head] ??= {}) as Record<string, unknown>, rest, value);
}

const entryAt = (path: readonly PropertyKey[]): CatalogEntry | undefined =>
  catalog.find((entry) => entry.path.every((part, i) => path[i] === part));

function setFromText(target: Record<string, unknown>, entry: CatalogEntry, text: string, name: string): void {
  let value: unknown;
  try {
    value = entry.meta.fromText === undefined ? parseText(entry, text) : fromFile(entry.schema, text);
  } catch (thrown) {
    throw invalid(`${name}: ${toTokenrailError(thrown, 'config_invalid').message}`, name);
  }
  setPath(target, entry.path, value);
}

/** Flags as the command line gave them, keyed without dashes. Repeated list flags arrive joined by commas. */
export function flagSource(flags: Readonly<Record<string, string>>): Source {
  const values: Record<string, unknown> = {};
  for (const [flag, text] of Object.entries(flags)) {
    const entry = catalog.find((candidate) => candidate.flag === flag && candidate.hasFlag);
    if (entry === undefined) {
      throw invalid(
        `unknown flag --${flag}${suggestion(
          flag,
          catalog.map((known) => known.flag),
        )}`,
        `--${flag}`,
      );
    }
    setFromText(values, entry, text, `--${flag}`);
  }
  return { values, nameOf: (path) => `--${entryAt(path)?.flag ?? path.join('-')}` };
}

/** Variables named `TOKENRAIL_…`; empty ones count as not set, as Compose and shells write them. */
export function environmentSource(environment: Readonly<Record<string, string | undefined>>): Source {
  const values: Record<string, unknown> = {};
  const settable = catalog.filter((entry) => entry.hasFlag);
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith(ENVIRONMENT_PREFIX) || OTHER_VARIABLES.includes(name)) continue;
    const entry = settable.find((candidate) => candidate.environment === name);
    if (entry === undefined) {
      const known = [...settable.map((candidate) => candidate.environment), ...OTHER_VARIABLES];
      throw invalid(`unknown environment variable ${name}${suggestion(name, known)}`, name);
    }
    if (text !== undefined && text !== '') setFromText(values, entry, text, name);
  }
  return { values, nameOf: (path) => entryAt(path)?.environment ?? path.join('_') };
}

/** A YAML file. @throws TokenrailError `config_invalid` naming the file for what cannot be read or is no mapping */
export function fileSource(path: string): Source {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    throw new TokenrailError('config_invalid', `cannot read ${path}: ${(thrown as Error).message}`, {
      cause: thrown,
    });
  }
  const document = parseDocument(text, { uniqueKeys: true });
  const problem = document.errors[0];
  if (problem !== undefined) throw invalid(`${path}: ${problem.message}`);
  const content = contentOf(document, path);
  if (typeof content !== 'object' || Array.isArray(content))
    throw invalid(`${path}: expected keys and values`);
  try {
    const values = fromFile(configSchema, content) as Record<string, unknown>;
    return { values, nameOf: (at) => `${fileKey(at)} in ${path}` };
  } catch (thrown) {
    const error = toTokenrailError(thrown, 'config_invalid');
    throw invalid(`${path}: ${error.message}`, error.param);
  }
}

function contentOf(document: Document, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (thrown) {
    throw invalid(`${path}: ${(thrown as Error).message}`);
  }
}

/** A path of the parsed configuration as the file writes it. */
function fileKey(path: readonly PropertyKey[]): string {
  return path
    .map((part) =>
      typeof part === 'number'
        ? `[${part}]`
        : `.${String(part).replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`,
    )
    .join('')
    .replace(/^\./, '');
}
