import { expect } from 'vitest';
import { choiceOf, type Served } from './setup.ts';

export interface ErrorAnswer {
  error: { message: string; type: string; param: string | null; code: string };
}

/** Checks that a response is an error in OpenAI's shape, in JSON, without anything of our insides. */
export async function expectError(
  response: Response,
  status: number,
  code: string,
  param?: string | null,
): Promise<ErrorAnswer['error']> {
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const { error } = (await response.json()) as ErrorAnswer;
  expect([response.status, error.code]).toEqual([status, code]);
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
  expect(error.message).toBeTypeOf('string');
  expect(error.message).not.toMatch(/\n\s+at |node_modules|\.ts:/);
  if (param !== undefined) expect(error.param).toBe(param);
  return error;
}

/** An ordinary request still works. */
export async function expectWorks(served: Served): Promise<void> {
  const response = await served.chat({});
  expect(response.status).toBe(200);
  expect(choiceOf(await response.json()).message?.content).toBe('Hello there.');
}
