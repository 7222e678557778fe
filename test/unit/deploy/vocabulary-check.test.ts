import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveConfig } from '../../../deploy/config/deployment.ts';
import { loadConfig } from '../../../deploy/config/load.ts';
import { checkDeployment } from '../../../deploy/start-up-checks.ts';
import { checkVocabularies } from '../../../deploy/vocabulary-check.ts';

interface TokenizerFile {
  added_tokens: { id: number; content: string; special: boolean }[];
  model: { vocab: Record<string, number> };
}

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tokenrail-vocabulary-'));
  cpSync('models/small', join(dir, 'a'), { recursive: true });
  cpSync('models/small', join(dir, 'b'), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true }));

function change<T>(name: string, edit: (content: T) => void): void {
  const path = join(dir, 'b', name);
  const content = JSON.parse(readFileSync(path, 'utf8')) as T;
  edit(content);
  writeFileSync(path, JSON.stringify(content));
}

const pair = (): ReturnType<typeof resolveConfig> =>
  resolveConfig(loadConfig({ flags: { models: `a=${join(dir, 'a')},b=${join(dir, 'b')}` } }));
const check = (): number => checkVocabularies(pair().models).maskIdsFrom;

test('equal vocabularies start', () => {
  expect(check()).toBe(768);
});

test('a wider head is padding: it starts, and the padding is masked', () => {
  change<{ vocab_size: number }>('config.json', (config) => (config.vocab_size = 800));
  expect(check()).toBe(768);
});

test('a narrower head bounds what may be sampled', () => {
  change<{ vocab_size: number }>('config.json', (config) => (config.vocab_size = 760));
  expect(check()).toBe(760);
});

test('two ids swapped are refused, the first of them named', () => {
  change<TokenizerFile>('tokenizer.json', ({ model: { vocab } }) => {
    const [one = '', two = ''] = Object.keys(vocab).filter((token) => [300, 400].includes(vocab[token] ?? 0));
    [vocab[one], vocab[two]] = [vocab[two] ?? 0, vocab[one] ?? 0];
  });
  expect(check).toThrow(/"a" .*"b" .*id 300 is/);
  expect(check).toThrow(expect.objectContaining({ code: 'config_invalid', param: 'models' }) as Error);
});

test('a control token that is missing is refused', () => {
  change<TokenizerFile>('tokenizer.json', (file) => {
    file.added_tokens = file.added_tokens.filter(({ id }) => id !== 2);
  });
  expect(check).toThrow(/id 2 is/);
});

test('the start-up checks name a model that is not there, and a router that does not know its option', async () => {
  const { maskIdsFrom } = await checkDeployment(pair());
  expect(maskIdsFrom).toBe(768);
  rmSync(join(dir, 'b'), { recursive: true });
  await expect(checkDeployment(pair())).rejects.toMatchObject({ code: 'checkpoint_invalid' });
  const wrong = resolveConfig(loadConfig({ flags: { router: 'always-small', threshold: '1' } }));
  await expect(checkDeployment(wrong)).rejects.toThrow(/threshold/);
});
