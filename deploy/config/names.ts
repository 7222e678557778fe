/** `maxNumSeqs` → `max-num-seqs`: the one name of a key in files and flags. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export const ENVIRONMENT_PREFIX = 'TOKENRAIL_';

/** `max-num-seqs` → `TOKENRAIL_MAX_NUM_SEQS`. */
export function environmentName(flag: string): string {
  return ENVIRONMENT_PREFIX + flag.replaceAll('-', '_').toUpperCase();
}

/** Levenshtein distance, for suggestions only. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** The known name nearest to an unknown one. */
export function nearestName(unknown: string, known: readonly string[]): string | undefined {
  const plain = (name: string): string => name.toLowerCase().replaceAll('_', '-');
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(plain(unknown), plain(name));
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  return best?.name;
}

/** ` (did you mean "x"?)`, or nothing where there is nothing to suggest. */
export function suggestion(unknown: string, known: readonly string[]): string {
  const name = nearestName(unknown, known);
  return name === undefined ? '' : ` (did you mean "${name}"?)`;
}
