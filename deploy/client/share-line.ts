import type { ChatUsage } from './chat-client.ts';
import type { Palette } from './palette.ts';

const percent = (part: number, whole: number): string =>
  `${whole === 0 ? '0.0' : ((100 * part) / whole).toFixed(1)} %`;

/** `small 112 tokens (89.6 %), large 13 tokens (10.4 %), 11 handoffs` */
export function shareLine(usage: ChatUsage, palette: Palette): string {
  const parts = Object.entries(usage.tokensByModel).map(([model, tokens]) =>
    palette.paint(model, `${model} ${tokens} tokens (${percent(tokens, usage.completionTokens)})`),
  );
  return [...parts, `${usage.handoffs} handoffs`].join(', ');
}
