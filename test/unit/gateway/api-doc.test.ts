import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PATHS } from '../../../actors/gateway/http/paths.ts';
import { chatFields, completionFields } from '../../../actors/gateway/openai/schema-fields.ts';
import { NEUTRAL_FIELDS, NEUTRAL_STREAM_OPTIONS } from '../../../actors/gateway/openai/schema-neutral.ts';

const text = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
const rows = (section: RegExp): string[][] =>
  (section.exec(text)?.[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );

describe('docs/api.md', () => {
  const supported = rows(/## Request fields[^]*?not supported/);
  const others = rows(/\*\*not supported\*\*[^]*?## /);

  it('lists every supported field with its endpoints', () => {
    const documented = supported.map(([name, endpoints]) => `${name} ${endpoints}`).sort();
    const own = Object.keys(chatFields.shape).map((name) => {
      return `\`${name}\` ${name in completionFields.shape ? 'both' : 'chat'}`;
    });
    expect(documented).toEqual(
      [...own, '`messages` chat', '`prompt` completions', '`stream_options` both'].sort(),
    );
  });

  it('lists every field that passes only with a value that asks for nothing', () => {
    const names = [
      ...NEUTRAL_FIELDS.keys(),
      ...[...NEUTRAL_STREAM_OPTIONS.keys()].map((name) => `stream_options.${name}`),
    ];
    expect(others.map(([name]) => name)).toEqual(names.map((name) => `\`${name}\``));
    const neverPass = others.filter(([, values]) => values === 'nothing').map(([name]) => name);
    const never = [...NEUTRAL_FIELDS]
      .filter(([, field]) => field.only === undefined)
      .map(([name]) => `\`${name}\``);
    expect(neverPass).toEqual(never);
  });

  it('lists every path', () => {
    for (const [method, path] of Object.values(PATHS)) {
      expect(text).toContain(
        path.endsWith('*') ? `\`${method} ${path.slice(0, -1)}{name}\`` : `\`${method} ${path}\``,
      );
    }
  });
});
