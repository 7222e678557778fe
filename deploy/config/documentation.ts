import { z } from 'zod';
import { catalog } from './catalog.ts';
import type { CatalogEntry } from './catalog.ts';
import type { Section } from './fields.ts';
import { kebab } from './names.ts';

const titles: Record<Section, string> = {
  deployment: 'Deployment',
  engine: 'Engine and scheduler',
  gateway: 'Gateway',
  process: 'Process',
  advanced: 'Advanced',
};

/** Sections in the order of help and docs. */
export const sections = Object.entries(titles) as [Section, string][];

/** The type of a key in words: `integer 1–256`, `auto | dummy`, `list of text`. */
export function typeText(entry: CatalogEntry): string {
  const { inner } = entry;
  if (inner instanceof z.ZodEnum) return inner.options.map(String).join(' or ');
  if (inner instanceof z.ZodArray) return inner.element instanceof z.ZodString ? 'list of text' : 'list';
  if (inner instanceof z.ZodRecord) return 'numbers by name';
  if (inner instanceof z.ZodObject)
    return entry.hasFlag ? entry.meta.placeholder.toLowerCase() : 'keys and values';
  if (!(inner instanceof z.ZodNumber)) return inner instanceof z.ZodString ? 'text' : 'yes or no';
  const { minValue, maxValue, isInt } = inner as {
    minValue: number | null;
    maxValue: number | null;
    isInt: boolean;
  };
  const low =
    minValue !== null && Number.isFinite(minValue) && minValue > Number.MIN_SAFE_INTEGER
      ? minValue
      : undefined;
  const high =
    maxValue !== null && Number.isFinite(maxValue) && maxValue < Number.MAX_SAFE_INTEGER
      ? maxValue
      : undefined;
  const range =
    low === undefined && high === undefined ? '' : high === undefined ? ` from ${low}` : ` ${low}–${high}`;
  return `${isInt ? 'integer' : 'number'}${range}`;
}

const isAbsent = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** The default in the text form of a flag. */
export function defaultText(entry: CatalogEntry): string {
  const { meta, defaultValue } = entry;
  if (meta.defaultText !== undefined) return meta.defaultText;
  if (defaultValue === undefined) return 'none';
  if (Array.isArray(defaultValue)) return defaultValue.length === 0 ? 'none' : defaultValue.join(',');
  if (typeof defaultValue === 'object' && defaultValue !== null) {
    return 'kind' in defaultValue ? String(defaultValue.kind) : 'none';
  }
  return typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue);
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function table(section: Section): string {
  const rows = catalog
    .filter((entry) => entry.meta.section === section)
    .map((entry) => {
      const isComputed = entry.meta.defaultText !== undefined || isAbsent(entry.defaultValue);
      const shown = isComputed ? defaultText(entry) : `\`${defaultText(entry)}\``;
      return `| \`${entry.key}\` | ${cell(typeText(entry))} | ${cell(shown)} | ${cell(entry.meta.help)} |`;
    });
  return ['| key | type | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** The generated part of docs/configuration.md. */
export function configurationTables(): string {
  return sections.map(([section, title]) => `### ${title}\n\n${table(section)}\n`).join('\n');
}

/** Keys that a model's own entry may repeat, for the docs. */
export function modelKeys(): string[] {
  return catalog
    .filter((entry) => entry.meta.section === 'engine')
    .map((entry) => kebab(entry.path[0] ?? ''));
}
