import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { compareAnswers } from '../../bench/identity/compare.ts';
import { ReferenceLoop } from '../../bench/identity/reference-loop.ts';
import { chat, mapConcurrently } from '../../bench/lib/chat-client.ts';
import { loadProblems } from '../../bench/lib/problems.ts';
import { startSystem, type System } from '../../bench/lib/system.ts';
import type { RouterEntry } from '../../core/deployment.ts';
import { packageRoot } from '../../deploy/config/package-root.ts';
import {
  ARCHITECTURE,
  classifierTensors,
  linearHeadTensors,
  mlpTensors,
  writeHeadFile,
} from '../helpers/head-files.ts';
import { RandomHeads } from '../helpers/random-heads.ts';

/** Random networks route at random, but the same in the system and in the plain loop. */
const HIDDEN = 96;
const MAX_TOKENS = 48;
const MAX_NUM_BATCHED_TOKENS = 512;
const models = ['small', 'medium', 'large'].map((name) => ({ name, dir: join(packageRoot, 'models', name) }));
const problems = loadProblems('test', 8);
const dir = mkdtempSync(join(tmpdir(), 'tokenrail-algorithms-'));
let system: System | undefined;
let routers: RouterEntry[] = [];

beforeAll(async () => {
  const random = new RandomHeads(3);
  const files = {
    r2r: writeHeadFile(
      join(dir, 'r2r.safetensors'),
      classifierTensors(random.classifier(HIDDEN, 100, [64, 64])),
      {
        architecture: ARCHITECTURE.classifier,
        vocab_size: '768',
      },
    ),
    citer: writeHeadFile(join(dir, 'citer.safetensors'), mlpTensors(random.mlp(HIDDEN)), {
      architecture: ARCHITECTURE.mlp,
      threshold: '0.5',
    }),
    coLlm: writeHeadFile(join(dir, 'co-llm.safetensors'), linearHeadTensors(random.vector(HIDDEN, 0.3), 0), {
      architecture: ARCHITECTURE.linear,
    }),
  };
  routers = [
    { id: 'r2r', use: 'r2r', options: { head: files.r2r, guest: 'medium' } },
    { id: 'citer', use: 'citer', options: { head: files.citer } },
    { id: 'co-llm', use: 'co-llm', options: { head: files.coLlm } },
    { id: 'composing', use: 'co-llm', options: { head: files.coLlm, strategy: 'compose' } },
    { id: 'ensemble', use: 'ensemble', options: { weights: { small: 0.5, medium: 0.3, large: 0.2 } } },
  ];
  const config = join(dir, 'config.yaml');
  const listed = models.map(({ name, dir: path }) => ({ name, path }));
  writeFileSync(
    config,
    stringify({ models: listed, routers, 'max-num-batched-tokens': MAX_NUM_BATCHED_TOKENS }),
  );
  system = await startSystem(['--config', config, '--log-level', 'warn']);
});
afterAll(async () => {
  await system?.stop();
  rmSync(dir, { recursive: true, force: true });
});

it.each(['r2r', 'citer', 'co-llm', 'composing', 'ensemble'])(
  '%s: the running system writes what the plain loop writes, 8 problems at once',
  async (id) => {
    const temperature = id === 'ensemble' ? 0.8 : 0;
    const answers = await mapConcurrently(problems, problems.length, ({ question }, seed) =>
      chat(system?.url ?? '', question, { router: id, temperature, seed, max_tokens: MAX_TOKENS }),
    );
    const router = routers.find((one) => one.id === id);
    if (!router) throw new Error('no router');
    const loop = await ReferenceLoop.start({ models, router, maxNumBatchedTokens: MAX_NUM_BATCHED_TOKENS });
    const references = [];
    for (const [seed, { promptIds }] of answers.entries()) {
      const sampling = { temperature, topP: 1, topK: -1, minP: 0, seed };
      references.push(await loop.answer(promptIds, sampling, { maxTokens: MAX_TOKENS, stopIds: [1] }));
    }
    await loop.close();
    const names = models.map(({ name }) => name);
    const { failures, tokens, guestTokens } = compareAnswers(answers, references, names);
    expect(failures).toEqual([]);
    expect(tokens).toBeGreaterThan(problems.length * 30);
    expect(guestTokens).toBeGreaterThan(problems.length);
    expect(guestTokens).toBeLessThan(tokens - problems.length);
  },
);
