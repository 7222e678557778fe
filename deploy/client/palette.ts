/** SGR codes: the first model a reader meets keeps the first one. */
const CODES = ['32', '1;35', '1;33', '1;36', '1;34'];

/** Whether text on this stream may be coloured: https://no-color.org, FORCE_COLOR, else terminals only. */
export function wantsColour(
  stream: { isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  if (environment['NO_COLOR']) return false;
  const forced = environment['FORCE_COLOR'];
  return forced === undefined ? stream.isTTY === true : forced !== '0';
}

/** Marks text by the model that wrote it: by colour, or not at all. */
export class Palette {
  private readonly isColoured: boolean;
  private readonly codes = new Map<string, string>();

  /** `models` get their colours in this order; others follow as they appear. */
  constructor(isColoured: boolean, models: readonly string[] = []) {
    this.isColoured = isColoured;
    for (const model of models) this.codeOf(model);
  }

  paint(model: string, text: string): string {
    if (!this.isColoured || text === '' || model === '') return text;
    return `\u001b[${this.codeOf(model)}m${text}\u001b[0m`;
  }

  dim(text: string): string {
    return this.isColoured ? `\u001b[2m${text}\u001b[0m` : text;
  }

  private codeOf(model: string): string {
    const known = this.codes.get(model);
    if (known !== undefined) return known;
    const code = CODES[this.codes.size % CODES.length] ?? '0';
    this.codes.set(model, code);
    return code;
  }
}
