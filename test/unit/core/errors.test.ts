import { describe, expect, it } from 'vitest';
import {
  ERROR_TABLE,
  isErrorCode,
  toTokenrailError,
  TokenrailError,
  type ErrorCode,
} from '../../../core/errors.ts';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

describe('the error table', () => {
  it('has one class name per code and a line for the docs', () => {
    const names = CODES.map((code) => ERROR_TABLE[code].name);
    expect(new Set(names).size).toBe(names.length);
    for (const code of CODES) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(ERROR_TABLE[code].name).toMatch(/^[A-Z][A-Za-z]+Error$/);
      expect(ERROR_TABLE[code].summary).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('has HTTP statuses that agree with the type', () => {
    const statusesOf: Record<string, number[]> = {
      invalid_request_error: [400, 405, 413, 415, 499],
      authentication_error: [401],
      not_found_error: [404],
      rate_limit_error: [429],
      server_error: [500],
      service_unavailable_error: [503],
      timeout_error: [504],
    };
    for (const code of CODES) expect(statusesOf[ERROR_TABLE[code].type]).toContain(ERROR_TABLE[code].status);
  });

  it("calls retryable what may pass, and nothing that is the client's fault", () => {
    for (const code of CODES) {
      const { status, retryable } = ERROR_TABLE[code];
      if (status === 429 || status === 503 || status === 504) expect([code, retryable]).toEqual([code, true]);
      if (status < 500 && status !== 429) expect([code, retryable]).toEqual([code, false]);
    }
  });
});

describe('TokenrailError', () => {
  it('takes everything but the message from the table', () => {
    const cause = new Error('inner');
    const error = new TokenrailError('overloaded', 'queues are full', { cause, param: 'messages' });
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.status, error.retryable, error.type]).toEqual([
      'OverloadedError',
      429,
      true,
      'rate_limit_error',
    ]);
    expect([error.code, error.message, error.cause, error.param]).toEqual([
      'overloaded',
      'queues are full',
      cause,
      'messages',
    ]);
  });

  it('has no cause where none was given', () => {
    expect(Object.hasOwn(new TokenrailError('internal', 'x'), 'cause')).toBe(false);
  });

  it('is kept by toTokenrailError; anything else becomes the fallback with the cause', () => {
    const own = new TokenrailError('cancelled', 'gone');
    expect(toTokenrailError(own, 'engine_failed')).toBe(own);
    const foreign = new RangeError('too far');
    const wrapped = toTokenrailError(foreign, 'engine_failed');
    expect([wrapped.code, wrapped.message, wrapped.cause]).toEqual(['engine_failed', 'too far', foreign]);
    expect(toTokenrailError('just text')).toMatchObject({ code: 'internal', message: 'just text' });
    expect(toTokenrailError(undefined)).toMatchObject({ code: 'internal', message: 'undefined' });
  });

  it('knows its codes, and only those', () => {
    for (const code of CODES) expect(isErrorCode(code)).toBe(true);
    for (const other of ['toString', '__proto__', 'constructor', '', 'OVERLOADED', 3, null, undefined]) {
      expect(isErrorCode(other)).toBe(false);
    }
  });
});
