import { resolve } from 'node:path';
import type { RouterEntry } from '../../core/deployment.ts';
import { TokenrailError } from '../../core/errors.ts';
import type { ModelId } from '../../core/request.ts';
import { loadRouterFactory } from '../../routers/registry.ts';
import type { Router } from '../../routers/router.ts';
import { withDefaultHead } from '../config/head-files.ts';
import { splitList } from '../config/text-forms.ts';
import type { RecordingHeader } from '../recording/header.ts';
import { flagError, numberFlag } from '../system-options.ts';

/** The router that is asked, in texts of the command line. */
export interface RouterText {
  /** Id of a router of the recorded deployment, name of a built-in one, or path of a module. */
  router?: string | undefined;
  /** `name=value` each; values in JSON, anything else is text. */
  option?: readonly string[] | undefined;
  head?: string | undefined;
  /** `x` or `x,y,z`. */
  threshold?: string | undefined;
}

/** A router with its options, made for every model of the recorded deployment. */
export interface Variant {
  /** Its threshold where one was given, else what it is called. */
  label: string;
  threshold: number | undefined;
  routers: ReadonlyMap<ModelId, Router>;
}

/** What `--router` means, before options of the command line. */
function entryOf(text: string | undefined, header: RecordingHeader): { entry: RouterEntry; baseDir: string } {
  const id = text ?? header.defaultRouter;
  const known = header.routers.find((router) => router.id === id);
  if (known !== undefined) return { entry: known, baseDir: header.routersBaseDir };
  return { entry: { id, use: id, options: {} }, baseDir: process.cwd() };
}

function parseOption(text: string): [string, unknown] {
  const at = text.indexOf('=');
  if (at <= 0) throw flagError('--option', `expected NAME=VALUE, got "${text}"`);
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}

/**
 * One variant per threshold, or a single one where none is given.
 * @throws TokenrailError `config_invalid` naming the flag, or the router and what is wrong with its options
 */
export async function makeVariants(text: RouterText, header: RecordingHeader): Promise<Variant[]> {
  const { entry, baseDir } = entryOf(text.router, header);
  const given = Object.fromEntries((text.option ?? []).map(parseOption));
  const head = text.head === undefined ? {} : { head: resolve(text.head) };
  const options = { ...entry.options, ...given, ...head };
  const homePath = header.models.find(({ id }) => id === header.home)?.path ?? '';
  const complete = withDefaultHead({ ...entry, options }, homePath);
  const factory = await loadRouterFactory(entry.use, baseDir).catch((thrown: unknown) => {
    if (thrown instanceof TokenrailError && text.router !== undefined)
      throw flagError('--router', thrown.message, thrown);
    throw thrown;
  });
  const thresholds = text.threshold === undefined ? [undefined] : splitList(text.threshold);
  if (thresholds.length === 0) throw flagError('--threshold', 'is empty');
  return thresholds.map((one) => {
    const threshold = one === undefined ? undefined : numberFlag('--threshold', one);
    const all = { ...complete.options, ...(threshold === undefined ? {} : { threshold }) };
    const { home, models } = header;
    const routers = models.map(({ id }): [ModelId, Router] => [
      id,
      factory({
        self: id,
        home,
        models: models.map(({ id: model, name }) => ({ id: model, name })),
        options: all,
        baseDir,
      }),
    ]);
    return {
      label: threshold === undefined ? entry.id : String(threshold),
      threshold,
      routers: new Map(routers),
    };
  });
}
