import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compileTable, mermaidDiagram, requestMachine, subserverMachine } from '../../../machines/index.ts';

const page = readFileSync(new URL('../../../docs/machines.md', import.meta.url), 'utf8');
const inPage = [...page.matchAll(/```mermaid\n([\s\S]*?)\n```/g)].map((match) => match[1]);

describe('docs/machines.md', () => {
  it('shows the diagrams that the machines generate', () => {
    expect(inPage).toEqual([mermaidDiagram(requestMachine), mermaidDiagram(subserverMachine)]);
  });

  it('names every state and every event', () => {
    for (const machine of [requestMachine, subserverMachine]) {
      const table = compileTable(machine);
      for (const state of table.states) expect(page).toContain(`\`${state}\``);
      for (const event of table.events) expect(page).toContain(`\`${event}\``);
    }
  });
});
