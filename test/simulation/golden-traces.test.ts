import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import type { RouterEntry } from '../../core/deployment.ts';
import type { RouterFactory } from '../../routers/router.ts';
import { normalizedEntropy } from '../../routers/entropy.ts';
import { decodeFrame } from '../../transport/codec.ts';
import type { Message } from '../../transport/messages.ts';
import type { ScriptedModel } from '../helpers/chain-engine.ts';
import { ScriptedAlgorithms } from '../helpers/scripted-algorithms.ts';
import { SimDeployment } from '../helpers/sim-deployment.ts';

interface TraceEvent {
  ev: 'step' | 'send' | 'receive';
  at?: number;
  from?: number;
  to?: number;
  fedTokens?: number[];
  tokenIds?: number[];
  loc?: number;
  finished?: boolean;
}

interface Trace {
  id: string;
  input: {
    tau?: number;
    eos: number;
    prompt: number[];
    maxNew: number;
    logitsByModelAndPosition?: Record<string, Record<string, number[]>>;
    steps?: { at: number; sampled: number; route: number }[];
  };
  expected: { output: number[]; finishReason?: string; events: TraceEvent[] };
}

const { vectors } = JSON.parse(readFileSync('test/fixtures/golden/routing-vectors.json', 'utf8')) as {
  vectors: (Trace & { algorithm: string; kind: string })[];
};
const traces = vectors.filter(({ algorithm, kind }) => algorithm !== 'me' && kind === 'trace');

const algorithms = new ScriptedAlgorithms();
afterAll(() => algorithms.remove());

/** The trace's router; thresholds of the trained ones between the two scores that scripted steps have. */
function routerOf({ algorithm, input }: { algorithm: string } & Trace): RouterEntry {
  const head = { r2r: 'classifier', citer: 'mlp', 'co-llm': 'linear' } as const;
  const kind = head[algorithm as keyof typeof head];
  const options =
    kind === undefined ? { threshold: input.tau ?? 0.03 } : { head: algorithms.head(kind), threshold: 0.5 };
  return { id: 'trace', use: algorithm, options };
}

/** The trace's model: logits by position, or its scripted steps in order (with the routes scripted as well). */
function scripted(trace: { algorithm: string } & Trace, id: number): ScriptedModel {
  const byPosition = trace.input.logitsByModelAndPosition?.[String(id)];
  if (byPosition) {
    return (tokens) => {
      const logits = byPosition[String(tokens.length)] ?? [];
      return { token: logits.indexOf(Math.max(...logits)), entropy: normalizedEntropy(logits) };
    };
  }
  const steps = (trace.input.steps ?? []).filter(({ at }) => at === id);
  return () => {
    const step = steps.shift();
    const stays = step?.route === 0;
    // CITER's score is confidence, the others' is doubt; the guests of all three return whatever it is.
    const score = stays === (trace.algorithm === 'citer') ? 1 : 0;
    return { token: step?.sampled ?? 0, entropy: stays ? 0 : 1, score };
  };
}

/** Follows the scripted routes: the signal says whether the trace sends the row away. */
const scriptedRoutes: RouterFactory = ({ self, home }) => ({
  name: 'scripted',
  needs: {},
  onHandoff: self === home ? 'discard' : 'keep',
  route: (rows) => rows.map((row) => (row.normalizedEntropy === 1 ? (self === home ? 2 : 1) : 0)),
});

describe('golden traces through the real subservers', () => {
  it('has traces to replay', () => {
    expect(traces.length).toBeGreaterThanOrEqual(5);
  });

  for (const trace of traces) {
    it(trace.id, async () => {
      const isByLogits = trace.input.logitsByModelAndPosition !== undefined;
      const sim = await new SimDeployment({
        models: [1, 2].map((id) => ({ name: id === 1 ? 'small' : 'large', model: scripted(trace, id) })),
        routers: [routerOf(trace)],
        ...(isByLogits || trace.algorithm !== 'r-stitch' ? {} : { factories: { trace: scriptedRoutes } }),
      }).start();
      const sends: TraceEvent[] = [];
      sim.network.connect('listener').subscribe('sim.model.>', (message) => {
        for (const one of decodeFrame(message.payload).messages) sends.push(...asSends(one));
      });
      const { prompt, maxNew, eos } = trace.input;
      const init = sim.init(prompt.length, { limits: { maxTokens: maxNew, stopIds: [eos] } });
      const stream = sim.client.submit('req-1', prompt, init);
      await sim.clock.runUntil(() => sim.client.numOpen === 0, 1000);
      await sim.clock.runFor(5);

      expect(stream.ids).toEqual(trace.expected.output);
      expect(stream.finish?.reason).toBe(trace.expected.finishReason ?? 'eos');
      const { events } = trace.expected;
      for (const id of [1, 2]) {
        const fed = sim.replicas
          .find(({ model }) => model === id)
          ?.engine.steps.map(({ rows }) => rows[0]?.count);
        const expected = events
          .filter(({ ev, at }) => ev === 'step' && at === id)
          .map(({ fedTokens }) => fedTokens?.length);
        expect(fed).toEqual(expected);
      }
      const wanted = events
        .filter(({ ev, from, finished }) => ev === 'send' && !(finished && from === 1)) // that one is a Release
        .map(({ from, to, tokenIds, loc, finished }) => ({ ev: 'send', from, to, tokenIds, loc, finished }));
      // Progress carries the tokens of a span as they come; the handoff then carries what is left of it.
      expect(joinSpans(sends)).toEqual(wanted);
      expect(sim.numSequencesHeld).toBe(0);
    });
  }
});

function asSends(message: Message): TraceEvent[] {
  if (message.kind === 'peer-req') {
    const { from, to, suffix, loc, finished } = message;
    return [{ ev: 'send', from, to, tokenIds: [...suffix], loc, finished: finished !== undefined }];
  }
  if (message.kind === 'progress')
    return [{ ev: 'receive', from: message.from, tokenIds: [...message.suffix] }];
  return [];
}

/** Puts the tokens already told by Progress in front of the handoff that ends the span. */
function joinSpans(sends: readonly TraceEvent[]): TraceEvent[] {
  const joined: TraceEvent[] = [];
  let told: number[] = [];
  for (const send of sends) {
    if (send.ev === 'receive') told.push(...(send.tokenIds ?? []));
    else {
      joined.push({ ...send, tokenIds: [...told, ...(send.tokenIds ?? [])] });
      told = [];
    }
  }
  return joined;
}
