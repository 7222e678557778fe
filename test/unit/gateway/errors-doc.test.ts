import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERROR_TABLE } from '../../../core/errors.ts';

describe('docs/errors.md', () => {
  it('lists the error table, row by row and nothing else', () => {
    const text = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
    const rows = text
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) =>
        line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim().replace(/^`|`$/g, '')),
      );
    const table = Object.entries(ERROR_TABLE).map(([code, row]) => [
      code,
      row.name,
      String(row.status),
      row.retryable ? 'yes' : 'no',
      row.type,
      row.summary,
    ]);
    expect(rows).toEqual(table);
  });
});
