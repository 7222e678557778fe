import type { StateValue } from 'xstate';

/** A state value such as `{ running: 'queued' }` as the string `running.queued`. Parallel states are not used here. */
export function statePath(value: StateValue): string {
  if (typeof value === 'string') return value;
  for (const [name, child] of Object.entries(value)) {
    if (child !== undefined) return `${name}.${statePath(child)}`;
  }
  return '';
}
