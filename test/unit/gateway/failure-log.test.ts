import { describe, expect, it } from 'vitest';
import { FailureLog } from '../../../actors/gateway/metrics/failure-log.ts';
import { TokenrailError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

interface Line {
  level: string;
  text: string;
  fields: Record<string, unknown>;
}

function makeLog(): { log: FailureLog; clock: ManualClock; lines: Line[] } {
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (fields: object, text: string): void =>
      void lines.push({ level, text, fields: { ...fields } });
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  };
  const clock = new ManualClock();
  return { log: new FailureLog(clock, logger), clock, lines };
}

const outage = new TokenrailError('bus_unavailable', 'no bus');

describe('FailureLog', () => {
  it('writes one line per code and second in an outage, and how many it left out', () => {
    const { log, clock, lines } = makeLog();
    for (let i = 0; i < 1_000; i += 1) log.write(`r${i}`, outage);
    expect(lines).toEqual([
      { level: 'warn', text: 'request failed: no bus', fields: { rid: 'r0', code: 'bus_unavailable' } },
    ]);
    log.write('other', new TokenrailError('shutting_down', 'ends'));
    expect(lines[1]?.fields).toEqual({ rid: 'other', code: 'shutting_down' });
    clock.advance(1_000);
    log.write('again', outage);
    expect(lines[2]?.fields).toEqual({ rid: 'again', code: 'bus_unavailable', others: 999 });
    clock.advance(1_000);
    log.write('alone', outage);
    expect(lines[3]?.fields).toEqual({ rid: 'alone', code: 'bus_unavailable' });
  });

  it('tells where an internal error came from, and keeps what clients do wrong at debug', () => {
    const { log, lines } = makeLog();
    const bug = new TokenrailError('internal', 'oops');
    log.write('a', bug);
    log.write('b', new TokenrailError('invalid_request', 'no'));
    log.write('c', new TokenrailError('overloaded', 'full'));
    expect(lines[0]?.fields['err']).toBe(bug);
    expect(lines.slice(1).map(({ level }) => level)).toEqual(['debug', 'debug']);
  });
});
