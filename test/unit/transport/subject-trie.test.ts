import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPublishable, isSubscribable } from '../../../transport/embedded-broker/subject-rules.ts';
import { SubjectTrie } from '../../../transport/embedded-broker/subject-trie.ts';
import type { Subscription } from '../../../transport/embedded-broker/subscription.ts';

const subscriber = { deliver: () => {} };

const subscriptionTo = (subject: string, queue = '', sid = '1'): Subscription => ({
  subscriber,
  sid,
  tokens: subject.split('.'),
  queue,
  delivered: 0,
  max: 0,
});

/** The definition, written the slow way. */
function matches(pattern: readonly string[], tokens: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === '>') return tokens.length > 0;
  if (first === undefined || tokens.length === 0) return first === undefined && tokens.length === 0;
  return (first === '*' || first === tokens[0]) && matches(rest, tokens.slice(1));
}

const token = fc.constantFrom('a', 'b', 'c');
const subject = fc.array(token, { minLength: 1, maxLength: 4 });
const pattern = fc
  .tuple(fc.array(fc.oneof(token, fc.constant('*')), { maxLength: 3 }), fc.constantFrom('a', 'b', '*', '>'))
  .map(([front, last]) => [...front, last].join('.'));
const queue = fc.constantFrom('', '', 'g', 'h');

describe('SubjectTrie', () => {
  test('matches what the definition says, through any adding and removing', () => {
    const actions = fc.array(fc.tuple(pattern, queue, fc.boolean(), fc.nat()), { maxLength: 40 });
    fc.assert(
      fc.property(actions, fc.array(subject, { minLength: 1, maxLength: 6 }), (steps, subjects) => {
        const trie = new SubjectTrie();
        const live: Subscription[] = [];
        for (const [text, group, isRemoval, index] of steps) {
          const victim = live[index % Math.max(1, live.length)];
          if (isRemoval && victim !== undefined) {
            trie.remove(victim);
            live.splice(live.indexOf(victim), 1);
          } else {
            const added = subscriptionTo(text, group);
            trie.add(added);
            live.push(added);
          }
          for (const tokens of subjects) {
            const { plain, groups } = trie.match(tokens.join('.'));
            const expected = live.filter((candidate) => matches(candidate.tokens, tokens));
            expect(new Set([...plain, ...groups.flat()])).toEqual(new Set(expected));
            expect(plain.length + groups.flat().length).toBe(expected.length);
            expect(plain.every((one) => one.queue === '')).toBe(true);
            for (const members of groups) expect(new Set(members.map((one) => one.queue)).size).toBe(1);
          }
        }
        expect(trie.size).toBe(live.length);
      }),
      { numRuns: 150 },
    );
  });

  test('removing twice, or what was never added, changes nothing', () => {
    const trie = new SubjectTrie();
    const kept = subscriptionTo('a.b');
    const gone = subscriptionTo('a.b');
    trie.add(kept);
    trie.add(gone);
    trie.remove(gone);
    trie.remove(gone);
    trie.remove(subscriptionTo('x.>'));
    expect(trie.size).toBe(1);
    expect(trie.match('a.b').plain).toEqual([kept]);
  });

  test('an empty trie holds no nodes of former subscriptions', () => {
    const trie = new SubjectTrie();
    const all = ['a.b.c', 'a.*.c', 'a.>', '>', '*', 'a.b'].map((text) => subscriptionTo(text));
    for (const one of all) trie.add(one);
    for (const one of all) trie.remove(one);
    const { root } = trie as unknown as { root: { literal: Map<string, unknown>; star: unknown } };
    expect([root.literal.size, root.star, trie.size]).toEqual([0, undefined, 0]);
  });

  test('matches of many different subjects are remembered up to a limit only', () => {
    const trie = new SubjectTrie();
    trie.add(subscriptionTo('>'));
    for (let i = 0; i < 20_000; i += 1) trie.match(`inbox.${i}`);
    expect((trie as unknown as { cache: Map<string, unknown> }).cache.size).toBeLessThanOrEqual(4096);
  });

  test('two hundred thousand subscribers of one subject are no trouble', () => {
    const trie = new SubjectTrie();
    for (let i = 0; i < 200_000; i += 1) trie.add(subscriptionTo(i % 2 === 0 ? 'a' : '>', '', String(i)));
    expect(trie.match('a').plain.length).toBe(200_000);
  });
});

describe('subjects', () => {
  test.each([
    ['a', true, true],
    ['a.b-c.d_e', true, true],
    ['a.*', true, false],
    ['*', true, false],
    ['>', true, false],
    ['a.>', true, false],
    ['a.>.b', false, false],
    ['a..b', false, false],
    ['.a', false, false],
    ['a.', false, false],
    ['', false, false],
    ['a*.b>', true, true],
  ])('%j: subscribable %s, publishable %s', (text, canSubscribe, canPublish) => {
    expect(isSubscribable(text.split('.'))).toBe(canSubscribe);
    expect(isPublishable(text.split('.'))).toBe(canPublish);
  });
});
