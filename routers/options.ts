import { resolve } from 'node:path';
import { TokenrailError } from '../core/errors.ts';
import type { RouterContext } from './router.ts';

/** What one option of a router may be. */
export interface NumberOption {
  kind: 'number';
  default: number;
  /** Smallest and largest value allowed. */
  min: number;
  max: number;
}

/** A model of the deployment, given by name. */
export interface ModelOption {
  kind: 'model';
}

/** A number without a default of its own. */
export interface OptionalNumber {
  kind: 'optional-number';
  min: number;
  max: number;
  isInteger?: boolean;
}

/** One of a few words, the first by default. */
export interface ChoiceOption<Word extends string = string> {
  kind: 'choice';
  words: readonly [Word, ...Word[]];
}

/** A file; relative paths start at the configuration's folder. */
export interface FileOption {
  kind: 'file';
}

export type OptionSpec = NumberOption | ModelOption | OptionalNumber | ChoiceOption | FileOption;

type OptionValue<Spec extends OptionSpec> = Spec extends NumberOption
  ? number
  : Spec extends OptionalNumber
    ? number | undefined
    : Spec extends ChoiceOption<infer Word>
      ? Word
      : string | undefined;

/** The error for a router that is configured wrongly; `option` names the key. */
export function optionError(router: string, option: string, problem: string): TokenrailError {
  return new TokenrailError('config_invalid', `router ${router}: option "${option}" ${problem}`, {
    param: `options.${option}`,
  });
}

function readOption(
  router: string,
  name: string,
  spec: OptionSpec,
  value: unknown,
  context: RouterContext,
): unknown {
  const must = (be: string): TokenrailError =>
    optionError(router, name, `must ${be}, not ${describe(value)}`);
  if (value === undefined) {
    if (spec.kind === 'choice') return spec.words[0];
    return spec.kind === 'number' ? spec.default : undefined;
  }
  switch (spec.kind) {
    case 'number':
    case 'optional-number': {
      const isInteger = spec.kind === 'optional-number' && spec.isInteger === true;
      const isInRange = typeof value === 'number' && value >= spec.min && value <= spec.max;
      if (isInRange && (!isInteger || Number.isInteger(value))) return value;
      throw must(`be ${isInteger ? 'an integer' : 'a number'} from ${spec.min} to ${spec.max}`);
    }
    case 'choice':
      if (typeof value === 'string' && spec.words.includes(value)) return value;
      throw must(`be one of ${spec.words.join(', ')}`);
    case 'file':
      if (typeof value === 'string' && value !== '') return resolve(context.baseDir ?? '', value);
      throw must('be the path of a file');
    case 'model': {
      const names = context.models.map((model) => model.name);
      if (typeof value === 'string' && names.includes(value)) return value;
      throw must(`name a model (${names.join(', ')})`);
    }
  }
}

function describe(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return JSON.stringify(value) ?? typeof value;
}

/**
 * Reads a router's options strictly.
 * @throws TokenrailError `config_invalid` naming an option that is unknown or out of range
 */
export function readOptions<Specs extends Record<string, OptionSpec>>(
  router: string,
  context: RouterContext,
  specs: Specs,
): { [Name in keyof Specs]: OptionValue<Specs[Name]> } {
  for (const name of Object.keys(context.options)) {
    if (Object.hasOwn(specs, name)) continue;
    const known = Object.keys(specs);
    throw optionError(router, name, `is unknown; known: ${known.length === 0 ? 'none' : known.join(', ')}`);
  }
  const read = Object.entries(specs).map(([name, spec]) => [
    name,
    readOption(router, name, spec, context.options[name], context),
  ]);
  return Object.fromEntries(read) as { [Name in keyof Specs]: OptionValue<Specs[Name]> };
}
