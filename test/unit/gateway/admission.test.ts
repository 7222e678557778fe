import { describe, expect, it } from 'vitest';
import { Admission } from '../../../actors/gateway/admission.ts';
import type { TokenrailError } from '../../../core/errors.ts';
import type { Reject } from '../../../transport/messages.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const reject = (code: string, retryable: boolean): Reject => ({
  kind: 'reject',
  rid: 'req-a',
  term: 0,
  hop: 0,
  model: 1,
  replica: 'r1',
  code,
  message: `refused: ${code}`,
  retryable,
});

function makeAdmission(): {
  clock: ManualClock;
  admission: Admission;
  seen: { sends: number; homes: string[]; errors: TokenrailError[] };
} {
  const clock = new ManualClock();
  const seen = { sends: 0, homes: [] as string[], errors: [] as TokenrailError[] };
  const admission = new Admission({
    clock,
    random: () => 0.5,
    admitTimeoutMs: 1_000,
    send: () => void (seen.sends += 1),
    onHome: (replica) => seen.homes.push(replica),
    onFailed: (error) => seen.errors.push(error),
  });
  admission.start();
  return { clock, admission, seen };
}

describe('Admission', () => {
  it('takes the first replica as the home; another one is a duplicate', () => {
    const { clock, admission, seen } = makeAdmission();
    expect(admission.onAdmitted('r1')).toBe('home');
    expect(admission.onAdmitted('r1')).toBe('known');
    expect(admission.onAdmitted('r2')).toBe('duplicate');
    clock.advance(60_000);
    expect(seen).toEqual({ sends: 1, homes: ['r1'], errors: [] });
  });

  it('sends three times without an answer, then gives up', () => {
    const { clock, seen } = makeAdmission();
    clock.advance(2_999);
    expect([seen.sends, seen.errors.length]).toEqual([3, 0]);
    clock.advance(1);
    expect(seen.errors.map(({ code }) => code)).toEqual(['model_unavailable']);
    clock.advance(60_000);
    expect(seen.sends).toBe(3);
  });

  it('knocks twice more at a full house, then passes its refusal on', () => {
    const { clock, admission, seen } = makeAdmission();
    for (let i = 0; i < 3; i += 1) {
      admission.onReject(reject('overloaded', true));
      clock.advance(500);
    }
    expect(seen.sends).toBe(3);
    expect(seen.errors.map(({ code }) => code)).toEqual(['overloaded']);
  });

  it('passes a refusal that is final on at once, and an unknown code as an internal fault', () => {
    const first = makeAdmission();
    first.admission.onReject(reject('context_length_exceeded', false));
    expect(first.seen.errors.map(({ code }) => code)).toEqual(['context_length_exceeded']);
    const second = makeAdmission();
    second.admission.onReject(reject('made_up', false));
    expect(second.seen.errors.map(({ code }) => code)).toEqual(['internal']);
  });

  it('takes "nobody listens" as the end only while nobody was heard of', () => {
    const alone = makeAdmission();
    alone.admission.onNoResponders();
    expect(alone.seen.errors.map(({ code }) => code)).toEqual(['model_unavailable']);
    const known = makeAdmission();
    known.admission.onTokens();
    known.admission.onNoResponders();
    known.clock.advance(60_000);
    expect(known.seen.errors).toEqual([]);
    expect(known.admission.onAdmitted('r1')).toBe('home');
  });

  it('ignores a late refusal of a second replica', () => {
    const { admission, seen } = makeAdmission();
    admission.onAdmitted('r1');
    admission.onReject(reject('overloaded', false));
    admission.onNoResponders();
    expect(seen.errors).toEqual([]);
  });
});
