import { silentLogger } from '../../../core/log.ts';
import { Generation } from '../../../actors/gateway/generation.ts';
import type { Delta, GenerationEnd } from '../../../actors/gateway/generation-events.ts';
import { HomeLink } from '../../../actors/gateway/home-link.ts';
import { AnswerText } from '../../../actors/gateway/text/answer-text.ts';
import { Subjects } from '../../../transport/subjects.ts';
import { LocalBroker, type LocalBus } from '../../helpers/local-bus.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { ScriptedHome, type HomeSession } from '../../helpers/scripted-home.ts';
import { deployment } from '../../helpers/gateway-deployment.ts';

/** The end token of these tests; 0 to 255 are bytes. */
export const EOS = 256;

const byteTokens = {
  tokenBytes: (id: number) => (id < 256 ? Uint8Array.of(id) : new Uint8Array(0)),
  isSpecial: (id: number) => id >= 256,
  stripsLeadingSpace: false,
};

export const bytesOf = (text: string): number[] => [...Buffer.from(text, 'utf8')];

/** What a listener saw. */
export interface Seen {
  admitted: number;
  deltas: Delta[];
  ends: GenerationEnd[];
  text: () => string;
}

export interface Bench {
  broker: LocalBroker;
  gatewayBus: LocalBus;
  clock: ManualClock;
  home: ScriptedHome;
  link: HomeLink;
  dropped: Record<string, number>;
  /** Lets everything on the bus arrive, answers to it included. */
  settle: () => Promise<void>;
  start: (options?: Partial<StartOptions>) => { generation: Generation; seen: Seen };
  session: () => HomeSession;
}

export interface StartOptions {
  rid: string;
  stop: string[];
  maxTokens: number;
  deadlineMs: number;
  /** Whether its turn has yet to come. */
  waits: boolean;
}

/** A gateway's link and one scripted home on a local bus, with time standing still. */
export async function makeBench(): Promise<Bench> {
  const broker = new LocalBroker();
  const gatewayBus = broker.connect();
  const clock = new ManualClock();
  const dropped: Record<string, number> = {};
  const traffic = {
    message: () => {},
    dropped: (reason: string, count: number) => void (dropped[reason] = (dropped[reason] ?? 0) + count),
  };
  const link = new HomeLink({
    bus: gatewayBus,
    subjects: new Subjects(deployment.namespace),
    clock,
    logger: silentLogger,
    traffic,
    gatewayId: 'gw',
    homeName: 'small',
    onHeartbeat: () => {},
  });
  await link.start();
  const home = new ScriptedHome(broker.connect(), { deployment, auto: false });
  await home.start();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 6; turn += 1) await gatewayBus.flush();
  };
  const start: Bench['start'] = (options = {}) => {
    const seen: Seen = {
      admitted: 0,
      deltas: [],
      ends: [],
      text: () => seen.deltas.map(({ text }) => text).join(''),
    };
    const plan = {
      rid: options.rid ?? 'req-abc',
      promptIds: [1, 2, 3],
      sampling: { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 7 },
      limits: { maxTokens: options.maxTokens ?? 100, stopIds: [EOS] },
      router: 'r-stitch',
      answer: new AnswerText(byteTokens, { stop: options.stop ?? [] }),
      deadlineAtMs: options.deadlineMs === undefined ? undefined : clock.nowMs() + options.deadlineMs,
    };
    const bounds = { admitTimeoutMs: 1_000, idleProbeMs: 500, stopWaitMs: 200 };
    const deps = {
      clock,
      random: () => 0,
      link,
      deployment,
      gatewayId: 'gw',
      configHash: 'hash',
      traffic,
      ...bounds,
    };
    const generation = new Generation(plan, deps, {
      onAdmitted: () => void (seen.admitted += 1),
      onDelta: (delta) => seen.deltas.push(delta),
      onEnd: (end) => seen.ends.push(end),
    });
    generation.watchDeadline();
    if (options.waits !== true) generation.start();
    return { generation, seen };
  };
  return { broker, gatewayBus, clock, home, link, dropped, settle, start, session: () => home.session() };
}

/** A bench with one request that the home has admitted. */
export async function admittedBench(options: Partial<StartOptions> = {}) {
  const bench = await makeBench();
  const started = bench.start(options);
  await bench.settle();
  return { ...bench, ...started, session: bench.home.session() };
}
