/** Tokens are separated by dots and never empty; white space cannot occur, the parser splits at it. */
const hasEmptyToken = (tokens: readonly string[]): boolean => tokens.includes('');

/** A subject for SUB: `*` stands for one token, `>` for one or more at the end. */
export function isSubscribable(tokens: readonly string[]): boolean {
  const fullWildcard = tokens.indexOf('>');
  return !hasEmptyToken(tokens) && (fullWildcard === -1 || fullWildcard === tokens.length - 1);
}

/** A subject for PUB: no wildcards. */
export function isPublishable(tokens: readonly string[]): boolean {
  return !hasEmptyToken(tokens) && !tokens.includes('*') && !tokens.includes('>');
}
