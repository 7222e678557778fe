import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCheckpointFacts } from '../../../deploy/checkpoint-facts.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tokenrail-facts-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const put = (name: string, content: unknown): void =>
  writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
const config = {
  architectures: ['LlamaForCausalLM'],
  vocab_size: 300,
  max_position_embeddings: 64,
  eos_token_id: 2,
};

test('the embedded pair is greedy and ends with token 1', () => {
  expect(readCheckpointFacts('models/small')).toEqual({
    architecture: 'Qwen3ForCausalLM',
    vocabSize: 768,
    maxPositions: 512,
    eosIds: [1],
    defaultSampling: { temperature: 0, topP: 1, topK: -1, minP: 0 },
  });
});

test('the generation file wins over config.json, and may be missing', () => {
  put('config.json', config);
  expect(readCheckpointFacts(dir)).toMatchObject({ eosIds: [2], defaultSampling: { temperature: 0 } });
  put('generation_config.json', {
    eos_token_id: [5, 6],
    do_sample: true,
    temperature: 0.6,
    top_k: 20,
    top_p: 0.95,
  });
  expect(readCheckpointFacts(dir)).toMatchObject({
    eosIds: [5, 6],
    defaultSampling: { temperature: 0.6, topK: 20, topP: 0.95, minP: 0 },
  });
});

test('do_sample without a temperature samples at 1; top_k 0 means off', () => {
  put('config.json', config);
  put('generation_config.json', { do_sample: true, top_k: 0 });
  expect(readCheckpointFacts(dir).defaultSampling).toEqual({ temperature: 1, topP: 1, topK: -1, minP: 0 });
});

test.each([
  ['config.json', undefined, /config\.json: does not exist/],
  ['config.json', '{"architectures": [', /config\.json: /],
  ['config.json', { ...config, vocab_size: 'many' }, /config\.json: vocab_size/],
  ['generation_config.json', { eos_token_id: -1 }, /generation_config\.json: eos_token_id/],
])('a wrong %s is named', (name, content, message) => {
  if (name !== 'config.json') put('config.json', config);
  if (content !== undefined) put(name, content);
  expect(() => readCheckpointFacts(dir)).toThrow(
    expect.objectContaining({ code: 'checkpoint_invalid' }) as Error,
  );
  expect(() => readCheckpointFacts(dir)).toThrow(message);
});
