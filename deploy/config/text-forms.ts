import { TokenrailError } from '../../core/errors.ts';

const invalid = (message: string): TokenrailError => new TokenrailError('config_invalid', message);

/** `a,b,c` → its parts, trimmed, empty ones left out. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** `name=value,…` → pairs. @throws TokenrailError `config_invalid` for a part without `=` */
export function splitPairs(text: string): [string, string][] {
  return splitList(text).map((part) => {
    const at = part.indexOf('=');
    if (at <= 0 || at === part.length - 1) throw invalid(`expected NAME=VALUE, got "${part}"`);
    return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
  });
}

/** A number if the text is one, else the text, so that the schema can complain about it. */
export function numberOrText(text: string): number | string {
  const trimmed = text.trim();
  const value = Number(trimmed);
  return trimmed !== '' && Number.isFinite(value) ? value : text;
}

/** `true`, `false`, `1`, `0`; anything else stays text. */
export function booleanOrText(text: string): boolean | string {
  const known: Record<string, boolean> = { true: true, '1': true, false: false, '0': false };
  return known[text.trim().toLowerCase()] ?? text;
}

/** `small=2,large=1` → `{ small: 2, large: 1 }`. */
export function parseReplicas(text: string): Record<string, number | string> {
  return Object.fromEntries(splitPairs(text).map(([name, count]) => [name, numberOrText(count)]));
}

/** `small=./a,large=./b` → model entries in that order. */
export function parseModels(text: string): { name: string; path: string }[] {
  return splitPairs(text).map(([name, path]) => ({ name, path }));
}

/** `5` → 5, `1:2:2:3` → one number per number of requests alive; anything else stays text. */
function rowsOrText(text: string): number | string | (number | string)[] {
  return text.includes(':') ? text.split(':').map(numberOrText) : numberOrText(text);
}

/** Kinds whose number of rows stands behind them: `threshold-hold=4` is kind `threshold-hold`, threshold 4. */
const WITH_ROWS = ['threshold', 'threshold-hold', 'take-turns'];

/**
 * `auto`, `eager`, `threshold=4`, `take-turns=1:2:3,max-wait-ms=20`, `look-ahead,kappa=0.8` … → a policy object with the file's
 * key names.
 * @throws TokenrailError `config_invalid` for an option without a value
 */
export function parsePolicy(text: string): Record<string, unknown> {
  const [head = '', ...rest] = splitList(text);
  const [kind = '', ...values] = head.split('=').map((part) => part.trim());
  const policy: Record<string, unknown> = { kind };
  const rows = values.join('=');
  if (rows !== '' && !WITH_ROWS.includes(kind)) throw invalid(`"${kind}" takes no number, got "${head}"`);
  if (rows !== '') policy['threshold'] = rowsOrText(rows);
  for (const [key, value] of splitPairs(rest.join(',')))
    policy[key] = key === 'threshold' ? rowsOrText(value) : numberOrText(value);
  return policy;
}

/** `off` → nothing; `on`, `on,top-k=20,hidden=false` → signals with the file's key names; anything else stays text. */
export function parseRecord(text: string): unknown {
  const [head, ...rest] = splitList(text);
  if (head === 'off' && rest.length === 0) return undefined;
  if (head !== 'on') return text;
  const pairs = splitPairs(rest.join(','));
  return Object.fromEntries(
    pairs.map(([key, value]) => [key, key === 'hidden' ? booleanOrText(value) : numberOrText(value)]),
  );
}
