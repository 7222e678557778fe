export const ESC = String.fromCharCode(27);

const SEQUENCE = new RegExp(`${ESC}\\[([\\d;]*)m`, 'g');

/** The text below the colours. */
export const withoutColours = (text: string): string => text.replaceAll(SEQUENCE, '');

/** The colour codes used, without the one that ends a colour. */
export const coloursOf = (text: string): string[] => [
  ...new Set(
    [...text.matchAll(SEQUENCE)]
      .map((match) => match[1] ?? '')
      .filter((code) => code !== '0' && code !== '2'),
  ),
];

/** Everything written in one colour. */
export const writtenIn = (text: string, code: string): string =>
  text
    .split(`${ESC}[${code}m`)
    .slice(1)
    .map((part) => part.split(ESC)[0] ?? '')
    .join('');
