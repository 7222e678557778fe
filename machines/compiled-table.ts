import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { TokenrailError } from '../core/errors.ts';

/** A machine as plain look-ups: state and event type → next state. */
export interface TransitionTable {
  readonly initial: string;
  /** Paths of all leaf states, in the order of the definition. */
  readonly states: readonly string[];
  /** All event types of the machine, sorted. */
  readonly events: readonly string[];
  /** Undefined: the event is not legal in this state. */
  next(state: string, eventType: string): string | undefined;
  isFinal(state: string): boolean;
}

/** The path of a state node without the machine's own id: `running.queued`. */
export function nodePath(node: AnyStateNode): string {
  return node.path.join('.');
}

/** All nodes without children, depth first. */
function leavesOf(node: AnyStateNode): AnyStateNode[] {
  const children = Object.values(node.states) as AnyStateNode[];
  return children.length === 0 ? [node] : children.flatMap(leavesOf);
}

/** The leaf that is active after `node` was entered. */
function enteredLeaf(node: AnyStateNode): AnyStateNode {
  let leaf = node;
  for (;;) {
    const initial = leaf.initial?.target[0] as AnyStateNode | undefined;
    if (Object.keys(leaf.states).length === 0 || initial === undefined) return leaf;
    leaf = initial;
  }
}

function unsupported(node: AnyStateNode, what: string): TokenrailError {
  return new TokenrailError('illegal_state', `state ${nodePath(node)}: a table cannot express ${what}`);
}

/** Where each event type leads from `node` itself; refuses everything that depends on more than state and event. */
function ownTransitions(node: AnyStateNode): Map<string, AnyStateNode> {
  if (node.type === 'parallel' || node.type === 'history') throw unsupported(node, `${node.type} states`);
  if ((node.always?.length ?? 0) > 0) throw unsupported(node, 'eventless transitions');
  const targets = new Map<string, AnyStateNode>();
  for (const [eventType, candidates] of node.transitions) {
    const [first, second] = candidates;
    const target = first?.target?.[0];
    if (first === undefined || second !== undefined || first.guard !== undefined)
      throw unsupported(node, 'guards');
    if (target === undefined || eventType.includes('*') || eventType.startsWith('xstate.')) {
      throw unsupported(node, `the transition "${eventType}"`);
    }
    targets.set(eventType, target as AnyStateNode);
  }
  return targets;
}

/**
 * Compiles a machine once into look-ups (about a hundred times faster than an actor). The definition stays
 * the only source: a machine with guards, eventless, wildcard, delayed or target-less transitions is refused.
 *
 * @throws TokenrailError `illegal_state` for a machine that a table cannot express
 */
export function compileTable(machine: AnyStateMachine): TransitionTable {
  const rows = new Map<string, Map<string, string>>();
  const finals = new Set<string>();
  const events = new Set<string>();
  for (const leaf of leavesOf(machine.root)) {
    const row = new Map<string, string>();
    for (let node: AnyStateNode | undefined = leaf; node !== undefined; node = node.parent) {
      for (const [eventType, target] of ownTransitions(node)) {
        events.add(eventType);
        // The innermost state that knows the event decides, as in a statechart.
        if (!row.has(eventType)) row.set(eventType, nodePath(enteredLeaf(target)));
      }
    }
    rows.set(nodePath(leaf), row);
    if (leaf.type === 'final') finals.add(nodePath(leaf));
  }
  return {
    initial: nodePath(enteredLeaf(machine.root)),
    states: [...rows.keys()],
    events: [...events].sort(),
    next: (state, eventType) => rows.get(state)?.get(eventType),
    isFinal: (state) => finals.has(state),
  };
}
