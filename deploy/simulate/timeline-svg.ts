import { modelLane, requestLane, type LaneFrame } from './timeline-lanes.ts';
import { colourOf, INK, line, PAPER, rect, text } from './svg.ts';
import type { Timeline } from './timeline-recorder.ts';

const WIDTH = 1200;
const LEFT = 96;
const RIGHT = 16;
const MODEL_LANE = 44;
const REQUEST_LANE = 16;
const GAP = 12;
/** Requests shown at most. */
const MAX_REQUESTS = 64;
const TICKS_WANTED = 12;

/** A step between ticks that people read: 1, 2 or 5 times a power of ten. */
function tickMs(untilMs: number): number {
  const rough = untilMs / TICKS_WANTED;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough) ?? 10;
  return factor * power;
}

function legend(numModels: number, y: number): string {
  const items: string[] = [];
  let x = LEFT;
  const add = (shape: string, label: string): void => {
    items.push(shape, text(x + 22, y + 9, label, { size: 11 }));
    x += 34 + 7 * label.length;
  };
  for (let model = 1; model <= numModels; model += 1)
    add(rect(x, y, 16, 10, colourOf(model)), `step at model ${model}`);
  add(rect(x, y, 16, 10, colourOf(1), 0.25), 'waiting (colour of the model waited for)');
  add(line(x, y + 8, x + 16, y + 8, colourOf(1), 2), 'parked at home');
  return items.join('');
}

function axis(untilMs: number, x: (ms: number) => number, top: number, bottom: number): string {
  const step = tickMs(untilMs);
  const parts: string[] = [];
  for (let n = 0; n * step <= untilMs; n += 1) {
    const ms = n * step;
    parts.push(line(x(ms), top, x(ms), bottom, '#d8dde3', 1));
    parts.push(text(x(ms), bottom + 14, `${Number(ms.toPrecision(6))}`, { size: 11, anchor: 'middle' }));
  }
  parts.push(text(x(untilMs), bottom + 28, 'ms', { size: 11, anchor: 'end' }));
  return parts.join('');
}

/**
 * Who waited, ran and was parked when: a lane per replica (steps with their rows, and below them how many wait) and a
 * lane per request. One self-contained SVG, labelled as simulated.
 */
export function timelineSvg(
  timeline: Timeline,
  facts: { policy: string; thresholds: number[] | null; tokensPerSecond: number },
): string {
  const { untilMs, numModels, steps } = timeline;
  const lanes = [...new Set(steps.map(({ model, replica }) => `${model} ${replica}`))].sort();
  const requests = timeline.requests.slice(0, MAX_REQUESTS);
  const top = 64;
  const requestsTop = top + lanes.length * MODEL_LANE + GAP;
  const bottom = requestsTop + requests.length * REQUEST_LANE + 4;
  const height = bottom + 40;
  const x = (ms: number): number => LEFT + (Math.min(ms, untilMs) / untilMs) * (WIDTH - LEFT - RIGHT);
  const frame = (y: number): LaneFrame => ({ x, y, untilMs, left: LEFT });
  const name = facts.thresholds === null ? facts.policy : `${facts.policy} ${facts.thresholds.join(', ')}`;
  const title = `simulated: policy ${name}, ${facts.tokensPerSecond.toFixed(1)} tokens/s`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif">`,
    rect(0, 0, WIDTH, height, PAPER),
    text(LEFT, 24, title, { size: 15, weight: 600, fill: INK }),
    legend(numModels, 38),
    axis(untilMs, x, top, bottom),
    ...lanes.map((lane, i) => modelLane(timeline, lane, frame(top + i * MODEL_LANE))),
    ...requests.map((request, i) => requestLane(request, i + 1, frame(requestsTop + i * REQUEST_LANE))),
    '</svg>\n',
  ].join('\n');
}
