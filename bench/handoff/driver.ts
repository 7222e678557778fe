import type { Bus } from '../../transport/bus.ts';
import { decodeFrame, encodeFrame } from '../../transport/codec.ts';
import type { PeerReq } from '../../transport/messages.ts';
import { RUN_LIMIT_MS, type Load, type RunResult } from './plan.ts';
import { sampleHandoff } from './sample-handoff.ts';
import { quantile } from './statistics.ts';

export const TO_ECHO = 'bench.model.large.large-0';
export const TO_DRIVER = 'bench.model.small.small-0';

/** Decodes a frame and puts its handoffs into the queue, as a subserver does. */
export function enqueue(queue: PeerReq[], payload: Uint8Array): void {
  for (const message of decodeFrame(payload).messages) if (message.kind === 'peer-req') queue.push(message);
}

/** Answers every handoff with one of the same size: the other end of the closed loop. */
export function serveEcho(bus: Bus): void {
  const queue: PeerReq[] = [];
  bus.subscribe(TO_ECHO, ({ payload }) => {
    enqueue(queue, payload);
    for (let handoff = queue.shift(); handoff !== undefined; handoff = queue.shift()) {
      bus.publish(TO_DRIVER, encodeFrame([{ ...handoff, from: 2, fromReplica: 'large-0', to: 1 }]));
    }
  });
}

/** Runs closed loops: `inFlight` handoffs are open, each answer sends the next. Times cover codec, bus and queue at both ends. */
export class Driver {
  private readonly bus: Bus;
  private readonly queue: PeerReq[] = [];
  private onHandoff: (handoff: PeerReq) => void = () => {};

  constructor(bus: Bus) {
    this.bus = bus;
    bus.subscribe(TO_DRIVER, ({ payload }) => {
      enqueue(this.queue, payload);
      for (let handoff = this.queue.shift(); handoff !== undefined; handoff = this.queue.shift())
        this.onHandoff(handoff);
    });
  }

  async run(load: Load): Promise<RunResult> {
    await this.loop({ ...load, handoffs: Math.ceil(load.handoffs / 4) });
    return this.loop(load);
  }

  private loop({ inFlight, tokens, handoffs }: Load): Promise<RunResult> {
    const sentAtMs = new Float64Array(handoffs);
    const roundTripsMs = new Float64Array(handoffs);
    let sent = 0;
    let answered = 0;
    const sendNext = (): void => {
      sentAtMs[sent] = performance.now();
      const handoff = sampleHandoff(tokens, sent);
      sent += 1;
      this.bus.publish(TO_ECHO, encodeFrame([handoff]));
    };
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        this.onHandoff = () => {};
        reject(new Error(`${answered} of ${handoffs} handoffs answered in ${RUN_LIMIT_MS} ms`));
      }, RUN_LIMIT_MS);
      const startedMs = performance.now();
      this.onHandoff = ({ hop }) => {
        roundTripsMs[answered] = performance.now() - (sentAtMs[hop] ?? NaN);
        answered += 1;
        if (sent < handoffs) sendNext();
        if (answered < handoffs) return;
        clearTimeout(limit);
        const seconds = (performance.now() - startedMs) / 1000;
        roundTripsMs.sort();
        const oneWayUs = (q: number): number => quantile(roundTripsMs, q) * 500;
        resolve({
          medianUs: oneWayUs(0.5),
          p99Us: oneWayUs(0.99),
          handoffsPerSecond: (2 * handoffs) / seconds,
        });
      };
      for (let i = 0; i < Math.min(inFlight, handoffs); i += 1) sendNext();
    });
  }
}
