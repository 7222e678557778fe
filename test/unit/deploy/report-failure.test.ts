import { afterEach, expect, it, vi } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { reportFailure } from '../../../deploy/cli/report-failure.ts';

function report(thrown: unknown): { code: number; text: string } {
  let text = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  return { code: reportFailure(thrown), text };
}

afterEach(() => {
  vi.restoreAllMocks();
});

it('a wrong command line or configuration is one line and exit code 2', () => {
  const { code, text } = report(new TokenrailError('config_invalid', '--p: expected a number'));
  expect([code, text]).toEqual([2, 'tokenrail: config_invalid: --p: expected a number\n']);
});

it('another failure of ours is one line and exit code 1', () => {
  const { code, text } = report(new TokenrailError('bus_unavailable', 'nobody there'));
  expect([code, text]).toEqual([1, 'tokenrail: bus_unavailable: nobody there\n']);
});

it('what nobody foresaw comes with the place where it was thrown', () => {
  const { code, text } = report(
    (function thrower(): Error {
      return new Error('a hang');
    })(),
  );
  expect(code).toBe(1);
  expect(text).toMatch(/^tokenrail: internal: a hang\nError: a hang\n +at thrower /);
});
