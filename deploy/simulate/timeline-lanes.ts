import { colourOf, line, PAPER, rect, text } from './svg.ts';
import type { Timeline, TimelineRequest } from './timeline-recorder.ts';

/** Where a lane is drawn. */
export interface LaneFrame {
  x: (ms: number) => number;
  y: number;
  untilMs: number;
  /** Right end of the labels, in pixels. */
  left: number;
}

const STEP_HEIGHT = 22;
const WAITING_HEIGHT = 14;
/** Narrower bars have no room for a number. */
const LEAST_LABEL_WIDTH = 14;
const HOME = 1;

/** How many requests wait for a model over time. */
function waitingCounts(timeline: Timeline, model: number): { fromMs: number; toMs: number; count: number }[] {
  const changes: { atMs: number; by: number }[] = [];
  for (const { steps } of timeline.requests) {
    for (const { model: at, readyMs, startMs } of steps) {
      if (at !== model || readyMs === undefined || readyMs >= startMs) continue;
      changes.push({ atMs: readyMs, by: 1 }, { atMs: startMs, by: -1 });
    }
  }
  changes.sort((a, b) => a.atMs - b.atMs);
  let count = 0;
  return changes.map(({ atMs, by }, i) => {
    count += by;
    return { fromMs: atMs, toMs: changes[i + 1]?.atMs ?? atMs, count };
  });
}

/** Steps of one replica with their rows; below, how many requests wait for its model. */
export function modelLane(timeline: Timeline, lane: string, { x, y, left }: LaneFrame): string {
  const [id = '1', replica = ''] = lane.split(' ');
  const model = Number(id);
  const colour = colourOf(model);
  const parts = [text(left - 8, y + 15, `model ${id} ${replica}`, { size: 12, anchor: 'end', weight: 600 })];
  for (const step of timeline.steps) {
    if (step.model !== model || step.replica !== replica) continue;
    const from = x(step.startMs);
    const width = Math.max(1, x(step.endMs) - from - 1);
    const told = `${step.numRows} rows, ${step.startMs.toFixed(3)} to ${step.endMs.toFixed(3)} ms`;
    parts.push(rect(from, y, width, STEP_HEIGHT, colour, 1, told));
    if (width >= LEAST_LABEL_WIDTH)
      parts.push(
        text(from + width / 2, y + 15, `${step.numRows}`, { size: 11, anchor: 'middle', fill: PAPER }),
      );
  }
  const counts = waitingCounts(timeline, model);
  const most = Math.max(1, ...counts.map(({ count }) => count));
  for (const { fromMs, toMs, count } of counts) {
    if (count === 0 || toMs === fromMs) continue;
    const height = (WAITING_HEIGHT * count) / most;
    const told = `${count} waiting`;
    const bar = rect(x(fromMs), y + STEP_HEIGHT + 2, x(toMs) - x(fromMs), height, colour, 0.25, told);
    parts.push(bar);
  }
  return parts.join('');
}

/** One request: its steps, its waits, and the time in which it is parked at its home. */
export function requestLane(request: TimelineRequest, number: number, { x, y, left }: LaneFrame): string {
  const parts = [text(left - 8, y + 10, `request ${number}`, { size: 10, anchor: 'end' })];
  for (const { model, readyMs, startMs, endMs } of request.steps) {
    const colour = colourOf(model);
    if (readyMs !== undefined && startMs > readyMs)
      parts.push(rect(x(readyMs), y + 2, x(startMs) - x(readyMs), 9, colour, 0.25));
    parts.push(rect(x(startMs), y + 2, Math.max(1, x(endMs) - x(startMs) - 1), 9, colour));
    if (model !== HOME) {
      const from = x(readyMs ?? startMs);
      parts.push(line(from, y + 12.5, x(endMs), y + 12.5, colourOf(HOME), 2));
    }
  }
  return parts.join('');
}
