import { Option } from 'commander';
import type { Command } from 'commander';
import { catalog } from '../config/catalog.ts';
import type { CatalogEntry } from '../config/catalog.ts';
import { resolveConfig } from '../config/deployment.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import { defaultText, sections } from '../config/documentation.ts';
import { loadConfig } from '../config/load.ts';

const titles = new Map(sections);
const flagEntries = catalog.filter((entry) => entry.hasFlag);

function helpOf(entry: CatalogEntry): string {
  const shown = defaultText(entry);
  return shown === 'none' && entry.defaultValue === undefined
    ? entry.meta.help
    : `${entry.meta.help} Default: ${shown}.`;
}

/** Repeated flags add up: `--api-key a --api-key b` is `--api-key a,b`. Scalars take the last one. */
function collect(entry: CatalogEntry): (text: string, before: string | undefined) => string {
  const isList = entry.meta.placeholder.endsWith('…');
  return (text, before) => (isList && before !== undefined ? `${before},${text}` : text);
}

/** Gives a command every key of the configuration as a flag. */
export function addConfigOptions(command: Command): Command {
  command.addOption(
    new Option('-c, --config <file>', 'YAML file with the same keys').helpGroup('Configuration:'),
  );
  for (const entry of flagEntries) {
    const option = new Option(`--${entry.flag} <${entry.meta.placeholder}>`, helpOf(entry));
    const title = titles.get(entry.meta.section) ?? '';
    command.addOption(
      option
        .argParser(collect(entry))
        .helpGroup(`${title}:`)
        .hideHelp(entry.meta.section === 'advanced'),
    );
  }
  return command;
}

/** Reads and resolves the configuration that a command line, the environment and a file describe. */
export function configOf(command: Command, overrides: Readonly<Record<string, string>> = {}): ResolvedConfig {
  const values = command.opts<Record<string, string | undefined>>();
  const flags: Record<string, string> = {};
  for (const option of command.options) {
    const text = values[option.attributeName()];
    const flag = option.long?.slice(2) ?? '';
    if (text !== undefined && flagEntries.some((entry) => entry.flag === flag)) flags[flag] = text;
  }
  const loaded = loadConfig({
    flags: { ...flags, ...overrides },
    environment: process.env,
    configPath: values['config'],
  });
  return resolveConfig(loaded);
}
