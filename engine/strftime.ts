const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const DAY_MS = 86_400_000;

const two = (value: number): string => String(value).padStart(2, '0');

const FORMATS: Readonly<Record<string, (date: Date) => string>> = {
  a: (date) => (DAYS[date.getUTCDay()] ?? '').slice(0, 3),
  A: (date) => DAYS[date.getUTCDay()] ?? '',
  b: (date) => (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3),
  B: (date) => MONTHS[date.getUTCMonth()] ?? '',
  d: (date) => two(date.getUTCDate()),
  e: (date) => String(date.getUTCDate()).padStart(2, ' '),
  F: (date) => date.toISOString().slice(0, 10),
  H: (date) => two(date.getUTCHours()),
  I: (date) => two(date.getUTCHours() % 12 || 12),
  j: (date) =>
    String(Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS) + 1).padStart(
      3,
      '0',
    ),
  m: (date) => two(date.getUTCMonth() + 1),
  M: (date) => two(date.getUTCMinutes()),
  p: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  S: (date) => two(date.getUTCSeconds()),
  T: (date) => date.toISOString().slice(11, 19),
  y: (date) => two(date.getUTCFullYear() % 100),
  Y: (date) => String(date.getUTCFullYear()),
  z: () => '+0000',
  Z: () => 'UTC',
  '%': () => '%',
};

/**
 * Python's `strftime` as far as chat templates use it: English names, always UTC, so that all gateways render the
 * same prompt. `%-d` and the like drop the leading zeros. Unknown directives stay as they are.
 */
export function strftime(epochMs: number, format: string): string {
  const date = new Date(epochMs);
  return format.replace(/%(-?)([A-Za-z%])/g, (directive, dash: string, letter: string) => {
    const text = Object.hasOwn(FORMATS, letter) ? FORMATS[letter]?.(date) : undefined;
    if (text === undefined) return directive;
    return dash === '' ? text : text.replace(/^[0 ]+(?=.)/, '');
  });
}
