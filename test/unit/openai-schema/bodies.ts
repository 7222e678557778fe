import { expect } from 'vitest';
import type { GenerationRequest } from '../../../actors/gateway/generation-request.ts';
import { parseGenerationRequest, type SamplingDefaults } from '../../../actors/gateway/openai/schema.ts';
import { TokenrailError } from '../../../core/errors.ts';

export const defaults: SamplingDefaults = { temperature: 0, topP: 0.9, topK: 20, minP: 0.05 };
export const chatBody = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
export const textBody = { model: 'm', prompt: 'hi' };
export const chat = (more: object = {}): GenerationRequest =>
  parseGenerationRequest('chat', { ...chatBody, ...more }, defaults);
export const completion = (more: object = {}): GenerationRequest =>
  parseGenerationRequest('completion', { ...textBody, ...more }, defaults);

/** `code param` of the refusal. */
export function refusal(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (!(error instanceof TokenrailError)) throw error;
    expect(error.status).toBe(400);
    expect(error.param === undefined || error.message.includes(error.param)).toBe(true);
    return `${error.code} ${error.param ?? '-'}`;
  }
  return 'accepted';
}
