import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { nodePath } from './compiled-table.ts';

const idOf = (node: AnyStateNode): string => node.path.join('_');
const childrenOf = (node: AnyStateNode): AnyStateNode[] => Object.values(node.states) as AnyStateNode[];
const initialOf = (node: AnyStateNode): AnyStateNode | undefined =>
  node.initial?.target[0] as AnyStateNode | undefined;

/** A box is drawn around children unless all of them are ends: those are drawn as states of their own. */
const isBox = (node: AnyStateNode): boolean =>
  childrenOf(node).length > 0 && childrenOf(node).some((child) => child.type !== 'final');

/** `A --> B : E1, E2` for everything that leaves `node`; one arrow per target. */
function arrows(node: AnyStateNode): string[] {
  const labels = new Map<string, string[]>();
  for (const [eventType, transitions] of node.transitions) {
    const target = transitions[0]?.target?.[0] as AnyStateNode | undefined;
    if (target === undefined) continue;
    const { id, note } = endpoint(node, target);
    labels.set(id, [...(labels.get(id) ?? []), `${eventType}${note}`]);
  }
  return [...labels].map(([id, events]) => `${idOf(node)} --> ${id} : ${events.join(', ')}`);
}

/** Mermaid draws no arrow into another box's inside: such an arrow ends at the box and names the state. */
function endpoint(from: AnyStateNode, target: AnyStateNode): { id: string; note: string } {
  const box = target.parent;
  if (box === undefined || box === from.parent || box.parent === undefined || !isBox(box)) {
    return { id: idOf(target), note: '' };
  }
  return { id: idOf(box), note: initialOf(box) === target ? '' : ` (${target.key})` };
}

function body(node: AnyStateNode, indent: string): string[] {
  const lines: string[] = [];
  const initial = initialOf(node);
  if (initial !== undefined) lines.push(`${indent}[*] --> ${idOf(initial)}`);
  for (const child of childrenOf(node)) lines.push(...declaration(child, indent));
  for (const child of childrenOf(node)) lines.push(...arrows(child).map((arrow) => indent + arrow));
  return lines;
}

function declaration(node: AnyStateNode, indent: string): string[] {
  if (isBox(node)) {
    return [`${indent}state ${idOf(node)} {`, ...body(node, `${indent}  `), `${indent}}`];
  }
  const ends = childrenOf(node);
  if (ends.length > 0) return ends.flatMap((end) => declaration(end, indent));
  const name = node.type === 'final' ? nodePath(node) : node.key;
  const lines = name === idOf(node) ? [] : [`${indent}state "${name}" as ${idOf(node)}`];
  if (node.type === 'final') lines.push(`${indent}${idOf(node)} --> [*]`);
  return lines;
}

/** A machine as a Mermaid state diagram; the text in docs/machines.md is this, and a test compares them. */
export function mermaidDiagram(machine: AnyStateMachine): string {
  return ['stateDiagram-v2', ...body(machine.root, '  ')].join('\n');
}
