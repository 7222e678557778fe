import { drawNormal } from './draw.ts';
import { lookAround, type SampledServer } from './sampled-server.ts';
import { JITTER_STREAM, type SampledRequests } from './sampled-requests.ts';

export interface SampledSystemParts {
  /** In the order in which they decide. */
  servers: readonly SampledServer[];
  requests: SampledRequests;
  commits: readonly (readonly number[])[];
  /** Speed of each server while at least two run. */
  overlapFactor: number;
  /** Relative standard deviation of the step times, per model. */
  jitter: readonly number[];
  seed: number;
  /** The server of each request at each model: index request · M + model. */
  seats: readonly SampledServer[];
  onCommit: (tokens: number) => void;
}

/** Holds and completions closer than this are one instant: what rounding leaves of a difference of times. */
const SAME_INSTANT_MS = 1e-6;
/** Jitter never makes a step shorter than this share of its mean. */
const SHORTEST_STEP = 0.1;

/** The closed system as a sequence of instants: completions, routing, decisions. */
export class SampledSystem {
  nowMs = 0;
  numAlive: number;
  private readonly parts: SampledSystemParts;
  private readonly numModels: number;

  constructor(parts: SampledSystemParts) {
    this.parts = parts;
    this.numModels = parts.commits.length;
    this.numAlive = parts.requests.tokensLeft.length;
  }

  /** Puts a request into the queue of its server at `model`. */
  enqueue(request: number, model: number): void {
    const server = this.seat(request, model);
    server.waiting.push(request);
    server.readyMs.push(this.nowMs);
  }

  /** Idle servers with waiting rows decide; if nobody runs then, the longest queue starts. */
  decide(): void {
    const { servers } = this.parts;
    for (const server of servers) {
      server.lookAgainMs = Infinity;
      if (server.running.length > 0 || server.waiting.length === 0) continue;
      const decision = server.policy.decide(lookAround(server, this.nowMs, this.rate()));
      if (decision.kind === 'start') this.start(server);
      else server.lookAgainMs = this.nowMs + decision.forMs;
    }
    if (servers.some((server) => server.running.length > 0)) return;
    let longest: SampledServer | undefined;
    for (const server of servers) {
      const isLonger = server.waiting.length > (longest?.waiting.length ?? 0);
      const isTie = longest && server.waiting.length === longest.waiting.length;
      if (isLonger || (isTie && server.index < (longest?.index ?? 0))) longest = server;
    }
    if (longest && longest.waiting.length > 0) this.start(longest);
  }

  /** Lets time pass to the next instant at which something happens. False where nothing ever will. */
  advance(): boolean {
    let leftUs = Infinity;
    let lookMs = Infinity;
    for (const server of this.parts.servers) {
      if (server.running.length > 0) leftUs = Math.min(leftUs, server.leftUs);
      else lookMs = Math.min(lookMs, server.lookAgainMs);
    }
    const rate = this.rate();
    const endMs = leftUs / 1000 / rate;
    const untilLookMs = Math.max(0, lookMs - this.nowMs);
    const isLook = untilLookMs < endMs - SAME_INSTANT_MS;
    const passedMs = isLook ? untilLookMs : endMs;
    if (passedMs === Infinity) return false;
    this.pass(passedMs, isLook ? Math.min(leftUs, Math.round(passedMs * rate * 1000)) : leftUs);
    return true;
  }

  private pass(passedMs: number, doneUs: number): void {
    this.nowMs += passedMs;
    const { servers } = this.parts;
    for (const server of servers) {
      if (server.running.length === 0) continue;
      server.busyMs += passedMs;
      server.leftUs -= doneUs;
      server.expectedUs -= doneUs;
    }
    for (const server of servers) if (server.running.length > 0 && server.leftUs <= 0) this.complete(server);
  }

  private complete(server: SampledServer): void {
    const { requests, commits, onCommit } = this.parts;
    const rows = server.running;
    server.running = [];
    for (const request of rows) {
      const to = requests.next(request, server.model);
      const left = requests.tokensLeft[request] ?? 0;
      const tokens = Math.min(left, commits[server.model]?.[to] ?? 0);
      onCommit(tokens);
      requests.tokensLeft[request] = left - tokens;
      if (left - tokens > 0) this.enqueue(request, to);
      else this.end(request);
    }
  }

  private end(request: number): void {
    this.numAlive -= 1;
    for (let model = 0; model < this.numModels; model += 1) this.seat(request, model).alive -= 1;
  }

  private start(server: SampledServer): void {
    const rows = Math.min(server.waiting.length, server.view.maxNumSeqs);
    for (let i = 0; i < rows; i += 1) server.delays.add(this.nowMs - (server.readyMs[i] ?? 0));
    server.running = server.waiting.splice(0, rows);
    server.readyMs.splice(0, rows);
    server.lookAgainMs = Infinity;
    server.expectedUs = Math.max(1, Math.round(1000 * server.view.stepMs(rows)));
    server.leftUs = Math.max(1, Math.round(server.expectedUs * this.jitterOf(server)));
    server.numSteps += 1;
    server.numRows += rows;
  }

  private jitterOf(server: SampledServer): number {
    const deviation = this.parts.jitter[server.model] ?? 0;
    if (deviation === 0) return 1;
    const z = drawNormal(this.parts.seed, JITTER_STREAM + server.index, server.numDraws);
    server.numDraws += 1;
    return Math.max(SHORTEST_STEP, 1 + deviation * z);
  }

  private rate(): number {
    let numRunning = 0;
    for (const server of this.parts.servers) if (server.running.length > 0) numRunning += 1;
    return numRunning > 1 ? this.parts.overlapFactor : 1;
  }

  private seat(request: number, model: number): SampledServer {
    const server = this.parts.seats[request * this.numModels + model];
    if (!server) throw new RangeError('a request without a server');
    return server;
  }
}
