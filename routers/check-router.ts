/** What may stand in `needs`, and as what type. */
const NEEDS: Readonly<Record<string, 'number' | 'boolean' | 'object'>> = {
  topK: 'number',
  hidden: 'boolean',
  embedding: 'boolean',
  logits: 'boolean',
  heads: 'object',
};

const OPTIONAL_HOOKS = ['first', 'choose', 'send', 'receive', 'signal'] as const;

function checkNeeds(needs: unknown): string | undefined {
  if (typeof needs !== 'object' || needs === null) return 'needs must be an object';
  for (const [name, value] of Object.entries(needs)) {
    const type = NEEDS[name];
    if (type === undefined) return `needs.${name} is unknown; known: ${Object.keys(NEEDS).join(', ')}`;
    if (value !== undefined && typeof value !== type)
      return `needs.${name} must be a ${type === 'object' ? 'list' : type}`;
  }
  const { topK, heads } = needs as { topK?: number; heads?: unknown };
  if (heads !== undefined && !(Array.isArray(heads) && heads.every(isHead)))
    return 'needs.heads must be a list of { file, architecture? }';
  if (topK !== undefined && !(Number.isInteger(topK) && topK >= 1))
    return 'needs.topK must be an integer ≥ 1';
  return undefined;
}

function isHead(value: unknown): boolean {
  const { file, architecture } = (value ?? {}) as Record<string, unknown>;
  return typeof file === 'string' && file !== '' && ['string', 'undefined'].includes(typeof architecture);
}

/** What keeps a value from being a router, named by its field; undefined if nothing does. */
export function checkRouter(value: unknown): string | undefined {
  if (value instanceof Promise) {
    value.catch(() => {});
    return 'the factory returned a promise; it must be synchronous';
  }
  if (typeof value !== 'object' || value === null) return 'the factory must return a router object';
  const router = value as Record<string, unknown>;
  if (typeof router.name !== 'string' || router.name === '') return 'name must be a non-empty string';
  if (typeof router.route !== 'function') return 'route must be a function';
  if (router.onHandoff !== 'discard' && router.onHandoff !== 'keep')
    return 'onHandoff must be "discard" or "keep"';
  if (router.passesOn !== undefined && typeof router.passesOn !== 'boolean')
    return 'passesOn must be true or false';
  for (const hook of OPTIONAL_HOOKS) {
    if (router[hook] !== undefined && typeof router[hook] !== 'function') return `${hook} must be a function`;
  }
  return checkNeeds(router.needs);
}
