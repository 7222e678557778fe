import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { TokenrailError } from '../../core/errors.ts';
import { catalog } from './catalog.ts';
import { deepFreeze } from './deep-freeze.ts';
import { configSchema } from './schema.ts';
import type { Config } from './schema.ts';
import { environmentSource, fileSource, flagSource } from './sources.ts';
import type { Source } from './sources.ts';

export interface LoadOptions {
  /** Flags without dashes, as text. */
  flags?: Readonly<Record<string, string>>;
  environment?: Readonly<Record<string, string | undefined>>;
  /** The `--config` file; `TOKENRAIL_CONFIG` of the environment where absent. */
  configPath?: string | undefined;
  /** Default: the process's working directory. */
  cwd?: string;
}

export interface LoadedConfig {
  config: Config;
  /** Relative checkpoint and router paths count from here: the file's folder where the file names them, else the cwd. */
  modelsBaseDir: string;
  routersBaseDir: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Later sources win key by key; only the group `advanced` is merged inside. */
function merge(sources: readonly Source[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const { values } of sources) {
    for (const [key, value] of Object.entries(values)) {
      const before = result[key];
      result[key] =
        key === 'advanced' && isObject(before) && isObject(value) ? { ...before, ...value } : value;
    }
  }
  return result;
}

const valueAt = (values: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part], values);

/** What a value should have been, in the words of a file; of any other type zod says it well enough. */
const IN_WORDS: Readonly<Record<string, string>> = {
  object: 'expected keys and values',
  record: 'expected keys and values',
  array: 'expected a list',
};

const inWords: z.core.$ZodErrorMap = (issue) =>
  issue.code === 'invalid_type' ? IN_WORDS[issue.expected] : undefined;

function describeIssue(issue: z.core.$ZodIssue, sources: readonly Source[]): TokenrailError {
  const { path } = issue;
  const depth = path[0] === 'advanced' ? 2 : 1;
  const owner = sources.findLast((source) => valueAt(source.values, path.slice(0, depth)) !== undefined);
  const name = owner?.nameOf(path) ?? path.join('.');
  const value = owner === undefined ? undefined : valueAt(owner.values, path);
  const isSecret = catalog.some((entry) => entry.path[0] === path[0] && entry.meta.isSecret === true);
  const shown = value === undefined || isSecret ? '' : ` (got ${JSON.stringify(value)})`;
  return new TokenrailError('config_invalid', `${name}: ${issue.message}${shown}`, { param: name });
}

/**
 * Reads flags over environment over file over defaults, and checks everything.
 * @throws TokenrailError `config_invalid` naming the flag, variable or key at fault
 */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const { flags = {}, environment = {}, cwd = process.cwd() } = options;
  const path = options.configPath ?? (environment['TOKENRAIL_CONFIG'] || undefined);
  const file = path === undefined ? undefined : fileSource(resolve(cwd, path));
  const sources = [...(file === undefined ? [] : [file]), environmentSource(environment), flagSource(flags)];
  const parsed = configSchema.safeParse(merge(sources), { error: inWords });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw issue === undefined
      ? new TokenrailError('config_invalid', 'the configuration is wrong')
      : describeIssue(issue, sources);
  }
  const baseDirOf = (key: string): string =>
    path !== undefined && sources.findLast((source) => key in source.values) === file
      ? dirname(resolve(cwd, path))
      : cwd;
  return {
    config: deepFreeze(parsed.data),
    modelsBaseDir: baseDirOf('models'),
    routersBaseDir: baseDirOf('routers'),
  };
}
