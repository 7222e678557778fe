import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPublishable, isSubscribable } from '../../../transport/embedded-broker/subject-rules.ts';
import { encodeToken, lastToken, Subjects } from '../../../transport/subjects.ts';

const NASTY = [
  'a.b',
  'a b',
  'org/m',
  '*',
  '>',
  '模型',
  '$SYS.x',
  'Qwen2.5-0.5B',
  '',
  '_2e',
  'a\r\nPUB x 0',
  '🙂',
  'a_b',
];

describe('names in subjects', () => {
  test('any name becomes one plain token', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary' })), (name) => {
        expect(encodeToken(name)).toMatch(/^[A-Za-z0-9_-]*$/);
      }),
    );
  });

  test('different names never meet', () => {
    const name = fc.oneof(
      fc.constantFrom(...NASTY),
      fc.string({ unit: fc.constantFrom('_', '2', 'e', '.', 'a', '-') }),
    );
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(encodeToken(a) === encodeToken(b)).toBe(a === b);
      }),
      { numRuns: 2000 },
    );
  });

  test('every subject can be published to, wildcard ones subscribed to', () => {
    const subjects = new Subjects('my ns.x');
    for (const name of NASTY.filter((text) => text !== '')) {
      const plain = [
        subjects.requests(),
        subjects.model(name),
        subjects.replica(name, name),
        subjects.gateway(name),
        subjects.beacon(name),
        subjects.heartbeat(name, name),
        subjects.record(name),
        subjects.inbox('client', name, name),
      ];
      for (const subject of plain) {
        expect(isPublishable(subject.split('.')), subject).toBe(true);
        expect(subject.startsWith('my_20ns_2ex.')).toBe(true);
      }
      expect(new Set(plain).size).toBe(plain.length);
      for (const subject of [
        subjects.allHeartbeats(),
        subjects.allRecords(),
        subjects.allInbox('gateway', name),
      ]) {
        expect(isSubscribable(subject.split('.')), subject).toBe(true);
      }
      expect(lastToken(subjects.inbox('gateway', 'g', name))).toBe(encodeToken(name));
    }
  });
});
