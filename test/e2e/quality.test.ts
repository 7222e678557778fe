import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { chat, mapConcurrently } from '../../bench/lib/chat-client.ts';
import { loadProblems } from '../../bench/lib/problems.ts';
import { startSystem } from '../../bench/lib/system.ts';
import { passesOf, type PassRule } from '../../bench/quality/passes.ts';
import type { QualityReport } from '../../bench/quality/report.ts';
import { ARCHITECTURE, classifierTensors, writeHeadFile } from '../helpers/head-files.ts';
import { RandomHeads } from '../helpers/random-heads.ts';
import { endAll, runCli } from './support/cli.ts';
import { eventually } from './support/processes.ts';

const dir = mkdtempSync(join(tmpdir(), 'tokenrail-quality-test-'));
afterAll(async () => {
  await endAll();
  rmSync(dir, { recursive: true });
});

/** A random network is no router worth having, but it has signals, thresholds and a curve. */
function randomHead(): string {
  const heads = join(dir, 'heads');
  mkdirSync(join(heads, 'r2r'), { recursive: true });
  const tensors = classifierTensors(new RandomHeads(3).classifier(96, 100, [64, 64]));
  const facts = { architecture: ARCHITECTURE.classifier, vocab_size: '768' };
  writeHeadFile(join(heads, 'r2r', 'head.safetensors'), tensors, facts);
  return heads;
}

it('tokenrail bench quality chooses on validation, reports every router and names the networks that are not there', async () => {
  const svg = join(dir, 'page.svg');
  const few = ['--problems', '3', '--calibrate', '2', '--shares', '15', '--report-shares', '15'];
  const args = [...few, '--max-share', '60', '--heads', randomHead(), '--svg', svg, '--json'];
  const { code, stdout, stderr } = await runCli(['bench', 'quality', ...args]);
  expect(stderr).toContain('left out, citer');
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as QualityReport;
  expect(report.missing.map(({ algorithm }) => algorithm)).toEqual(['citer', 'co-llm', 'co-llm-compose']);
  expect(report.parameters).toMatchObject({ small: 468_064, medium: 1_083_072, large: 2_509_632 });
  const [list] = report.lists;
  const rowOf = (id: string) => list?.rows.find((row) => row.id === id);
  expect(list?.problems).toBe(3);
  expect(rowOf('large')).toMatchObject({ share: 1, ofLarge: { ratio: 1, low: 1, high: 1 } });
  expect(rowOf('large')?.activatedParameters.byWriter).toBe(2_509_632);
  expect(rowOf('small')).toMatchObject({ share: 0, handoffsPerAnswer: 0 });
  expect(rowOf('medium')?.activatedParameters.bySteps).toBe(1_083_072);
  for (const algorithm of ['r-stitch', 'entropy', 'r2r']) {
    const own = list?.rows.filter((row) => row.algorithm === algorithm) ?? [];
    const chosen = report.validation.points.filter(
      (point) => point.algorithm === algorithm && point.isChosen,
    );
    expect(own.filter(({ isChosen }) => isChosen).map(({ threshold }) => threshold)).toEqual(
      chosen.map(({ threshold }) => threshold),
    );
    expect(chosen).toHaveLength(1);
    expect(chosen[0]?.share).toBeLessThanOrEqual(0.6);
    expect(Math.max(...own.map(({ share }) => share))).toBeGreaterThan(0);
  }
  expect(list?.againstQueries).toHaveLength(9);
  expect(list?.againstEntropy.map(({ algorithm }) => algorithm)).toEqual(['r2r']);
  const page = readFileSync(svg, 'utf8');
  expect(page).toContain('3 problems of “test”');
  expect(page).not.toMatch(/NaN|undefined/);
}, 400_000);

it('an algorithm that was asked for and has no network is refused before anything runs', async () => {
  const args = ['bench', 'quality', '--algorithms', 'entropy,citer', '--heads', join(dir, 'none')];
  const { code, stdout, stderr } = await runCli(args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/config_invalid.*citer.*none.citer.head\.safetensors/);
});

it('the passes that answers tell of are those that the subservers counted', async () => {
  const routers: { id: string; use: string; options: object; rule: PassRule }[] = [
    { id: 'entropy', use: 'r-stitch', options: { threshold: 0.02, maxSpanTokens: 1 }, rule: 'single-tokens' },
    { id: 'random', use: 'random', options: { p: 0.3 }, rule: 'single-tokens' },
    { id: 'large', use: 'always-large', options: {}, rule: 'kept' },
    { id: 'ensemble', use: 'ensemble', options: {}, rule: 'kept' },
  ];
  const config = join(dir, 'config.yaml');
  writeFileSync(
    config,
    stringify({ routers: routers.map(({ id, use, options }) => ({ id, use, options })) }),
  );
  const system = await startSystem(['--config', config, '--log-level', 'error']);
  try {
    const totals = new Map<string, { steps: number; read: number }>();
    const work = routers.flatMap((router) =>
      loadProblems('test', 3).map((problem) => ({ ...router, problem })),
    );
    await mapConcurrently(work, 6, async ({ id, rule, problem }) => {
      const options = { router: id, temperature: 0, seed: 1, max_tokens: 400 };
      const answer = await chat(system.url, problem.question, options);
      const shape = {
        promptTokens: answer.promptIds.length,
        writers: answer.models,
        handoffs: answer.handoffs,
      };
      for (const [model, { steps, read }] of passesOf(shape, 'small', rule)) {
        const known = totals.get(model) ?? { steps: 0, read: 0 };
        totals.set(model, { steps: known.steps + steps, read: known.read + read });
      }
    });
    const countOf = (metrics: string, model: string, event: string): number => {
      const lines = metrics
        .split('\n')
        .filter((line) => line.startsWith('tokenrail_subserver_events_total{'));
      const own = lines.find((line) => line.includes(`"${model}"`) && line.includes(`event="${event}"`));
      return Number(own?.split(' ').at(-1));
    };
    // Counters come with the heartbeats.
    const metrics = await eventually(async () => {
      const text = await (await fetch(`${system.url}/metrics`)).text();
      const isDone =
        countOf(text, 'small', 'requests_finished') === work.length &&
        countOf(text, 'large', 'step_rows') >= (totals.get('large')?.steps ?? 0);
      return isDone ? text : undefined;
    });
    for (const model of ['small', 'large']) {
      const counted = {
        steps: countOf(metrics, model, 'step_rows'),
        read: countOf(metrics, model, 'step_tokens'),
      };
      expect({ model, ...counted }).toEqual({ model, ...totals.get(model) });
    }
  } finally {
    await system.stop();
  }
}, 120_000);
