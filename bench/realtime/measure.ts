import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '../../core/system-clock.ts';
import { parseSimulate } from '../../deploy/simulate/options.ts';
import { runSimulate } from '../../deploy/simulate/run.ts';
import type { PolicySpec } from '../../scheduling/index.ts';
import { connectNats } from '../../transport/nats.ts';
import { ClosedLoop } from '../lab/closed-loop.ts';
import { emptyRun, type ModeRun } from '../lab/mode-run.ts';
import { fixedLengthWorkload } from '../lab/workload.ts';
import { MODEL_NAMES, startSimulatedSystem } from './deployment.ts';
import { measureHopMs } from './hop.ts';
import { bestOf, luckOf, stepMsOf, type Scenario } from './scenario.ts';
import { StreamDriver } from './stream-driver.ts';

/** As `tokenrail simulate` has them. */
const WORKLOAD = { promptTokens: 16, outputTokens: 256, vocabSize: 700 };

export type RealtimePolicy = 'threshold' | 'auto';

export interface RealtimeRow extends Scenario {
  /** Engines are simulated; processes, broker, gateway, codec and scheduling are real. */
  simulated: true;
  stepMs: [number, number];
  policy: RealtimePolicy;
  thresholds: number[] | null;
  hopMs: number;
  /** As counted by the clients, and half the width of the 95 % interval over its windows. */
  tokensPerSecond: number;
  ci95: number;
  /** Share of the large model's tokens that was drawn; p on average. */
  drawnShare: number;
  /** Without the luck of these draws. */
  correctedTokensPerSecond: number;
  /** `tokenrail simulate` with the measured hop, and without any. */
  virtualTokensPerSecond: number;
  virtualWithoutHop: number;
  /** Corrected ÷ virtual: 1 − this is what the runtime costs. */
  share: number;
  failures: string[];
}

export interface RealtimeOptions {
  scenario: Scenario;
  policy: RealtimePolicy;
  natsUrl: string;
  seconds: number;
  settleSeconds: number;
  /** Tokens of each simulation. */
  virtualTokens: number;
}

const NUM_WINDOWS = 20;

let numDeployments = 0;

function interval(rates: readonly number[]): number {
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / (rates.length - 1);
  return 1.96 * Math.sqrt(variance / rates.length);
}

const specsOf = (policy: RealtimePolicy, thresholds: readonly number[]): PolicySpec[] =>
  thresholds.map((threshold) =>
    policy === 'threshold' ? { kind: 'threshold', threshold } : { kind: 'auto' },
  );

/** Clients in a closed loop against real processes. */
async function measureReal(
  { scenario, policy, natsUrl, seconds, settleSeconds }: RealtimeOptions,
  thresholds: readonly number[],
): Promise<{ run: ModeRun; failures: string[] }> {
  numDeployments += 1;
  const namespace = `realtime-${process.pid}-${numDeployments}`;
  const system = await startSimulatedSystem(scenario, specsOf(policy, thresholds), natsUrl, namespace);
  const clock = new SystemClock();
  const bus = await connectNats({ servers: natsUrl, name: 'bench realtime', clock });
  const driver = new StreamDriver(bus, namespace, MODEL_NAMES);
  const loop = new ClosedLoop(driver, fixedLengthWorkload(WORKLOAD), scenario.concurrency, clock);
  const run = emptyRun();
  try {
    await driver.start(loop);
    loop.fill();
    await sleep(settleSeconds * 1000);
    for (let window = 0; window < NUM_WINDOWS; window += 1) {
      const before = { ...run.stats };
      loop.begin(run.stats);
      await sleep((seconds * 1000) / NUM_WINDOWS);
      loop.end(false);
      run.rates.push((run.stats.tokens - before.tokens) / (run.stats.seconds - before.seconds));
    }
    loop.close();
    return { run, failures: loop.failures };
  } finally {
    await driver.close();
    await system.stop();
  }
}

async function measureVirtual(
  { scenario, policy, virtualTokens }: RealtimeOptions,
  thresholds: readonly number[],
  hopMs: number,
): Promise<number> {
  const plan = parseSimulate({
    stepMs: stepMsOf(scenario).join(','),
    p: String(scenario.p),
    concurrency: String(scenario.concurrency),
    policy,
    ...(policy === 'threshold' ? { thresholds: thresholds.join(',') } : {}),
    hopMs: String(hopMs),
    tokens: String(virtualTokens),
    tokensPerRequest: String(WORKLOAD.outputTokens),
    promptTokens: String(WORKLOAD.promptTokens),
  });
  return (await runSimulate(plan)).tokensPerSecond;
}

/** One scenario under one policy, in real time and in virtual time. */
export async function measureRealtime(options: RealtimeOptions): Promise<RealtimeRow> {
  const { scenario, policy, natsUrl } = options;
  const { thresholds } = bestOf(scenario);
  const hopBeforeMs = await measureHopMs(natsUrl, 3);
  const { run, failures } = await measureReal(options, thresholds);
  const hopMs = (hopBeforeMs + (await measureHopMs(natsUrl, 3))) / 2;
  const { tokens, seconds, guestTokens } = run.stats;
  const tokensPerSecond = tokens / seconds;
  const drawnShare = guestTokens / tokens;
  const corrected = tokensPerSecond / luckOf(scenario, thresholds, drawnShare);
  const virtual = await measureVirtual(options, thresholds, hopMs);
  return {
    ...scenario,
    simulated: true,
    stepMs: stepMsOf(scenario),
    policy,
    thresholds: policy === 'threshold' ? thresholds : null,
    hopMs,
    tokensPerSecond,
    ci95: interval(run.rates),
    drawnShare,
    correctedTokensPerSecond: corrected,
    virtualTokensPerSecond: virtual,
    virtualWithoutHop: await measureVirtual(options, thresholds, 0),
    share: corrected / virtual,
    failures,
  };
}
