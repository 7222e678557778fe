import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOf, EOS, makeBench } from './generation-setup.ts';

/** What the network does to one message: how often it arrives (0 = lost), and when. */
const fate = fc.record({ copies: fc.constantFrom(0, 1, 1, 1, 2), delay: fc.nat(5) });

describe('an answer over a network that loses, doubles and reorders', () => {
  it('arrives whole, once and in order, and ends once', async () => {
    const answers = fc.record({
      text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
      cuts: fc.array(fc.nat(40), { maxLength: 8 }),
      fates: fc.array(fate, { minLength: 12, maxLength: 12 }),
      silentAsks: fc.nat(2),
    });
    await fc.assert(
      fc.asyncProperty(answers, async ({ text, cuts, fates, silentAsks }) => {
        const bench = await makeBench();
        const { seen } = bench.start({ maxTokens: 1_000 });
        await bench.settle();
        const session = bench.session();
        session.ids.push(...bytesOf(text), EOS);
        let unanswered = silentAsks;
        bench.home.onAsk = ({ have }) => {
          unanswered -= 1;
          if (unanswered >= 0) return;
          session.sendTokens(have, session.ids.slice(have));
          session.finish('eos');
        };
        const bounds = [
          0,
          ...cuts.map((cut) => cut % session.ids.length).sort((a, b) => a - b),
          session.ids.length,
        ];
        const sends = bounds
          .slice(1)
          .map((end, i) => () => session.sendTokens(bounds[i] ?? 0, session.ids.slice(bounds[i], end)));
        sends.push(() => session.finish('eos'));
        const arrivals = sends.flatMap((send, i) => {
          const { copies, delay } = fates[i] ?? { copies: 1, delay: 0 };
          return Array.from({ length: copies }, (_, copy) => ({ at: i + delay * (copy + 1), send }));
        });
        for (const { send } of arrivals.sort((a, b) => a.at - b.at)) send();
        await bench.settle();
        for (let round = 0; round < 12 && seen.ends.length === 0; round += 1) {
          bench.clock.advance(500);
          await bench.settle();
        }
        expect(seen.text()).toBe(Buffer.from(text, 'utf8').toString());
        expect(seen.deltas.flatMap(({ ids }) => ids)).toEqual(session.ids);
        expect(seen.ends).toMatchObject([
          { kind: 'finished', usage: { completionTokens: session.ids.length } },
        ]);
        expect(bench.clock.numPending).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});
