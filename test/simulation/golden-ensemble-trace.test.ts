import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { decodeFrame } from '../../transport/codec.ts';
import type { PeerReq, Progress } from '../../transport/messages.ts';
import { greedy, SimDeployment } from '../helpers/sim-deployment.ts';

interface Trace {
  id: string;
  input: {
    weights: number[];
    eos: number;
    prompt: number[];
    maxNew: number;
    drawForOutputToken: number[];
    tokensByOutputIndex: number[];
  };
  expected: { output: number[]; makerOfOutputToken: number[]; events: Event[] };
}
interface Event {
  ev: 'step' | 'send' | 'receive';
  at?: number;
  from?: number;
  to?: number;
  fedTokens?: number[];
  tokenIds?: number[];
  loc?: number;
  locs?: Record<string, number>;
  finished?: boolean;
  sampled?: number;
}

const { vectors } = JSON.parse(readFileSync('test/fixtures/golden/routing-vectors.json', 'utf8')) as {
  vectors: Trace[];
};
const trace = vectors.find(({ id }) => id === 'me-trace-locs');
const { prompt = [], weights = [], eos = 0, maxNew = 1 } = trace?.input ?? {};

// The trace says what is drawn for which position; everything else about the router is the real one.
const draws = vi.hoisted(() => ({ at: (_position: number): number => NaN }));
vi.mock('../../core/random.ts', () => ({
  uniform: ({ position }: { position: number }) => draws.at(position),
}));

it('me-trace-locs through the real subservers, with the first position drawn at admission', async () => {
  draws.at = (position) => trace?.input.drawForOutputToken[position - prompt.length] ?? 0;
  const says = (tokens: readonly number[]) => ({
    token: trace?.input.tokensByOutputIndex[tokens.length - prompt.length] ?? 0,
    entropy: 0,
  });
  const names = ['m1', 'm2', 'm3'];
  const sim = await new SimDeployment({
    models: names.map((name) => ({ name, model: says })),
    routers: [
      {
        id: 'ensemble',
        use: 'ensemble',
        options: { weights: Object.fromEntries(names.map((name, i) => [name, weights[i]])) },
      },
    ],
  }).start();
  const heard: (PeerReq | Progress)[] = [];
  sim.network.connect('listener').subscribe('sim.model.>', ({ payload }) => {
    for (const one of decodeFrame(payload).messages)
      if (one.kind === 'peer-req' || one.kind === 'progress') heard.push(one);
  });
  const init = sim.init(prompt.length, {
    sampling: { ...greedy, temperature: 1, seed: 1 },
    limits: { maxTokens: maxNew, stopIds: [eos] },
  });
  const stream = sim.client.submit('req-1', prompt, init);
  await sim.clock.runUntil(() => sim.client.numOpen === 0, 1000);
  await sim.clock.runFor(5);

  expect(stream.ids).toEqual(trace?.expected.output);
  expect(stream.models).toEqual(trace?.expected.makerOfOutputToken);
  expect(stream.finish?.reason).toBe('eos');

  // The home's prefill of the trace, whose token is discarded, is the forward pass that drawing at admission saves;
  // its prompt is fed with what comes back.
  const events = (trace?.expected.events ?? []).slice(1);
  const fed = names.map((_, i) =>
    events.flatMap(({ ev, at, fedTokens }) =>
      ev === 'step' && at === i + 1 ? [fedTokens?.length ?? 0] : [],
    ),
  );
  fed[0]![0]! += prompt.length;
  expect(sim.replicas.map(({ engine }) => engine.steps.map(({ rows }) => rows[0]?.count))).toEqual(fed);

  const wanted = events.filter(({ ev, from, finished }) => ev === 'send' && !(finished && from === 1));
  const said = sendsOf(heard);
  expect(said.map(({ locs: _, ...send }) => send)).toEqual(
    wanted.map(({ from, to, tokenIds, loc, finished }) => ({ from, to, tokenIds, loc, finished })),
  );
  // What the sender knows of everybody travels along; of the home it knows more, which has heard every token.
  said.forEach(({ locs }, i) => {
    for (const [model, loc] of Object.entries(wanted[i]?.locs ?? {}))
      expect(locs.get(Number(model)) ?? 0).toBeGreaterThanOrEqual(Number(model) === wanted[i]?.to ? 0 : loc);
  });
  expect(sim.numSequencesHeld).toBe(0);
});

/**
 * Handoffs in order. What the home heard as progress belongs to the next one that goes there; guests tell the home
 * some of it twice, since they do not hear what other guests have told.
 */
function sendsOf(heard: readonly (PeerReq | Progress)[]) {
  let told: number[] = [];
  let homeLoc = prompt.length;
  return heard.flatMap((one) => {
    const isForHome = one.kind === 'progress' || one.to === 1;
    if (isForHome) {
      told.push(...one.suffix.slice(Math.max(0, homeLoc - (one.loc - one.suffix.length))));
      homeLoc = one.loc;
    }
    if (one.kind === 'progress') return [];
    const tokenIds = isForHome ? told : [...one.suffix];
    if (isForHome) told = [];
    if (one.from === 1) homeLoc = one.loc;
    const locs = new Map((one.locs ?? []).map(({ model, loc }) => [model, loc]));
    return [
      { from: one.from, to: one.to, tokenIds, loc: one.loc, finished: one.finished !== undefined, locs },
    ];
  });
}
