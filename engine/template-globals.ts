import { strftime } from './strftime.ts';

/** Longest list that a template may ask `range` for. */
const MAX_RANGE = 100_000;

/** Thrown by a template on purpose. */
export class TemplateRefusal extends Error {}

/** What every chat template may call; `epochMs` is the time that `strftime_now` shows. */
export function templateGlobals(epochMs: number): Record<string, unknown> {
  return {
    true: true,
    false: false,
    none: null,
    True: true,
    False: false,
    None: null,
    raise_exception: (message: unknown) => {
      throw new TemplateRefusal(String(message));
    },
    strftime_now: (format: unknown) => strftime(epochMs, String(format)),
    range,
  };
}

function range(first: number, end?: number, step = 1): number[] {
  const [from, to] = end === undefined ? [0, first] : [first, end];
  const length = Math.max(0, Math.ceil((to - from) / step));
  if (!(length <= MAX_RANGE)) throw new TemplateRefusal(`range() of ${length} items`);
  return Array.from({ length }, (_, i) => from + i * step);
}

const RESERVED = new Set([
  'messages',
  'tools',
  'documents',
  'add_generation_prompt',
  'namespace',
  ...Object.keys(templateGlobals(0)),
]);

/** Whether a template variable is not the client's to set. */
export function isReserved(name: string): boolean {
  return RESERVED.has(name);
}
