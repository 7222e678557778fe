import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { catalog } from '../../../deploy/config/catalog.ts';
import { loadConfig } from '../../../deploy/config/load.ts';
import type { LoadOptions } from '../../../deploy/config/load.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tokenrail-config-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

let numFiles = 0;
function yaml(text: string): string {
  numFiles += 1;
  const path = join(dir, `${numFiles}.yaml`);
  writeFileSync(path, text);
  return path;
}

function refusal(options: LoadOptions): TokenrailError {
  try {
    loadConfig(options);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(TokenrailError);
    expect((thrown as TokenrailError).code).toBe('config_invalid');
    return thrown as TokenrailError;
  }
  throw new Error('accepted');
}

describe('sources', () => {
  test('without any source, the defaults hold', () => {
    const { config } = loadConfig();
    expect(config).toMatchObject({
      namespace: 'tokenrail',
      port: 8000,
      maxNumSeqs: 16,
      maxNumBatchedTokens: 512,
      blockSize: 256,
      policy: { kind: 'auto' },
      servedModelName: ['tokenrail'],
      shutdownTimeout: 30,
      advanced: { heartbeatMs: 500 },
    });
  });

  test('flags win over the environment, which wins over the file, which wins over defaults', () => {
    const configPath = yaml(
      'port: 1\nhost: file\nmax-queue: 7\nadvanced: {heartbeat-ms: 1, keep-alive-ms: 2}\n',
    );
    const environment = { TOKENRAIL_PORT: '2', TOKENRAIL_HOST: 'env', TOKENRAIL_ADVANCED_KEEP_ALIVE_MS: '3' };
    const { config } = loadConfig({ configPath, environment, flags: { port: '3' } });
    expect(config).toMatchObject({ port: 3, host: 'env', maxQueue: 7, maxInflight: 256 });
    expect(config.advanced).toMatchObject({ heartbeatMs: 1, keepAliveMs: 3, resendMs: 1000 });
  });

  test('the file may be named by the environment, and empty variables count as not set', () => {
    const environment = { TOKENRAIL_CONFIG: yaml('port: 5\n'), TOKENRAIL_PORT: '', UNRELATED: 'x' };
    expect(loadConfig({ environment }).config.port).toBe(5);
  });

  test('text forms of lists, pairs and policies', () => {
    const flags = {
      'api-key': 'a, b',
      models: 'one=./x,two=/y',
      replicas: 'one=2',
      policy: 'threshold=4,max-wait-ms=20',
      'served-model-name': 'm',
    };
    expect(loadConfig({ flags }).config).toMatchObject({
      apiKey: ['a', 'b'],
      models: [
        { name: 'one', path: './x' },
        { name: 'two', path: '/y' },
      ],
      replicas: { one: 2 },
      policy: { kind: 'threshold', threshold: 4, maxWaitMs: 20 },
    });
    expect(loadConfig({ configPath: yaml('policy: threshold=3\napi-key: k\n') }).config).toMatchObject({
      policy: { kind: 'threshold', threshold: 3 },
      apiKey: ['k'],
    });
  });

  test.each<[string, object]>([
    ['auto', { kind: 'auto' }],
    ['auto,max-wait-ms=40,admission-p99-ms=15', { kind: 'auto', maxWaitMs: 40, admissionP99Ms: 15 }],
    ['eager', { kind: 'eager' }],
    ['threshold=1:2:2:3', { kind: 'threshold', threshold: [1, 2, 2, 3] }],
    ['look-ahead', { kind: 'look-ahead' }],
    ['look-ahead, kappa=0.8', { kind: 'look-ahead', kappa: 0.8 }],
    ['threshold-hold=5,kappa=1', { kind: 'threshold-hold', threshold: 5, kappa: 1 }],
    ['take-turns=3,max-wait-ms=0', { kind: 'take-turns', threshold: 3, maxWaitMs: 0 }],
  ])('the policy %s', (text, policy) => {
    expect(loadConfig({ flags: { policy: text } }).config.policy).toEqual(policy);
    const ofModel = yaml(`models: [{name: a, path: b, policy: "${text}"}]\n`);
    expect(loadConfig({ configPath: ofModel }).config.models?.[0]?.policy).toEqual(policy);
  });

  test('a router id that no message could carry is refused', () => {
    for (const id of ['my router', 'routér']) {
      const configPath = yaml(`routers:\n  - id: ${id}\n    use: always-small\n`);
      expect(() => loadConfig({ configPath })).toThrow(/routers.*id.*visible ASCII without spaces/);
    }
  });

  test('router options keep their names, whatever they are', () => {
    const configPath = yaml(
      'routers:\n  - id: mine\n    use: ./mine.ts\n    options: {some_thing: 1, otherThing: {x-y: 2}}\n',
    );
    expect(loadConfig({ configPath }).config.routers?.[0]?.options).toEqual({
      some_thing: 1,
      otherThing: { 'x-y': 2 },
    });
  });

  test('the result is frozen through and through', () => {
    const { config } = loadConfig({ flags: { models: 'a=b' } });
    expect(() => ((config as { port: number }).port = 1)).toThrow(TypeError);
    expect(() => ((config.advanced as { heartbeatMs: number }).heartbeatMs = 1)).toThrow(TypeError);
    expect(() => ((config.models as unknown[])[0] = 1)).toThrow(TypeError);
  });

  test('relative paths count from the file that names them, else from the working directory', () => {
    const configPath = yaml('models: [{name: a, path: x}]\n');
    expect(loadConfig({ configPath, cwd: '/somewhere' })).toMatchObject({
      modelsBaseDir: dir,
      routersBaseDir: '/somewhere',
    });
    expect(loadConfig({ configPath, cwd: '/somewhere', flags: { models: 'a=x' } }).modelsBaseDir).toBe(
      '/somewhere',
    );
  });
});

describe('what is refused, and under which name', () => {
  test.each<[string, LoadOptions, RegExp]>([
    ['unknown flag', { flags: { prot: '1' } }, /--prot.*did you mean "port"/],
    ['unknown variable', { environment: { TOKENRAIL_PRT: '1' } }, /TOKENRAIL_PRT.*TOKENRAIL_PORT/],
    ['a flag that is no number', { flags: { port: '80a' } }, /^--port: .*"80a"/],
    ['an empty flag', { flags: { port: '' } }, /^--port: /],
    [
      'a number out of range',
      { environment: { TOKENRAIL_PORT: '70000' } },
      /^TOKENRAIL_PORT: .*65535.*70000/,
    ],
    ['a fraction', { flags: { 'max-num-seqs': '1.5' } }, /^--max-num-seqs: .*int/],
    ['infinity', { flags: { 'shutdown-timeout': 'Infinity' } }, /^--shutdown-timeout: /],
    ['a number for eager', { flags: { policy: 'eager=3' } }, /^--policy: .*takes no number.*eager=3/],
    ['an option of another policy', { flags: { policy: 'eager,kappa=1' } }, /^--policy: .*kappa.*eager/],
    ['a threshold of none', { flags: { policy: 'take-turns=0' } }, /^--policy: .*>=1/],
    ['a table with a hole', { flags: { policy: 'threshold=1::3' } }, /^--policy[^:]*: .*number of rows/],
    ['an unknown policy', { flags: { policy: 'lookahead' } }, /^--policy[^:]*: .*look-ahead/],
    ['a policy without its number', { flags: { policy: 'threshold' } }, /^--policy: .*needs the number/],
    [
      'an unknown policy option',
      { flags: { policy: 'threshold=2,max-wait=3' } },
      /^--policy: .*max-wait.*max-wait-ms/,
    ],
    ['a pair without a value', { flags: { models: 'a=' } }, /^--models: .*NAME=VALUE/],
    ['an empty name', { flags: { 'served-model-name': '' } }, /^--served-model-name: /],
    ['a URL of something else', { flags: { nats: 'http://x' } }, /^--nats: .*nats:\/\//],
    ['a file that is not there', { configPath: '/nowhere/x.yaml' }, /cannot read \/nowhere\/x\.yaml/],
  ])('%s', (_name, options, message) => {
    expect(refusal(options).message).toMatch(message);
  });

  test.each<[string, string, RegExp]>([
    ['an unknown key', 'prot: 1\n', /unknown key "prot" \(did you mean "port"\?\)/],
    ['the spelling of the code', 'maxNumSeqs: 1\n', /"maxNumSeqs".*"max-num-seqs"/],
    ['the spelling of Python', 'max_num_seqs: 1\n', /"max_num_seqs".*"max-num-seqs"/],
    [
      'an unknown key of a model',
      'models: [{name: a, path: b, max-num-sex: 1}]\n',
      /models\[0\]\.max-num-sex.*max-num-seqs/,
    ],
    ['an unknown advanced key', 'advanced: {heartbeat: 1}\n', /advanced\.heartbeat".*heartbeat-ms/],
    [
      'a wrong value deep inside',
      'models: [{name: a, path: b, max-num-seqs: 0}]\n',
      /^models\[0\]\.max-num-seqs in .*yaml: /,
    ],
    ['text for a number', 'port: "8000"\n', /^port in .*expected (int|number)/],
    ['a model without a path', 'models: [{name: a}]\n', /^models\[0\]\.path in /],
    ['a key given twice', 'port: 1\nport: 2\n', /unique/],
    ['true for on', 'record: true\n', /^record in .*yaml: expected "on", "off".*top-k.*\(got true\)/],
    ['another word for on', 'record: maybe\n', /^record in .*yaml: expected "on", "off".*\(got "maybe"\)/],
    ['an unknown key of signals', 'record: {topk: 3}\n', /"record\.topk" \(did you mean "top-k"/],
    ['a half option of signals', 'record: on,foo\n', /yaml: record: expected NAME=VALUE, got "foo"/],
    [
      'a half option of a policy',
      'models: [{name: a, path: b, policy: "auto,foo"}]\n',
      /yaml: models\[0\]\.policy: expected NAME=VALUE, got "foo"/,
    ],
    ['a number for a policy', 'policy: 5\n', /^policy in .*yaml: expected a policy such as "auto".*got 5/],
    ['a number for a list', 'models: 5\n', /^models in .*yaml: expected a list \(got 5\)/],
    ['a number for a group', 'advanced: 5\n', /^advanced in .*yaml: expected keys and values \(got 5\)/],
    ['text for a model', 'models: [x]\n', /^models\[0\] in .*yaml: expected keys and values/],
    ['a number for replicas', 'replicas: 2\n', /^replicas in .*yaml: expected keys and values/],
    ['a list for a mapping', '- port\n', /expected keys and values/],
    ['broken YAML', 'port: [1\n', /yaml: /],
    ['control characters in a name', 'models: [{name: "a\\nb", path: b}]\n', /^models\[0\]\.name/],
  ])('%s in the file', (_name, text, message) => {
    expect(refusal({ configPath: yaml(text) }).message).toMatch(message);
  });

  test('an alias bomb is refused', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 9; i += 1)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    expect(refusal({ configPath: yaml(lines.join('\n')) }).message).toMatch(/yaml: /);
  });

  test('secrets stay out of messages', () => {
    expect(refusal({ flags: { nats: 'http://me:hunter2@x' } }).message).not.toContain('hunter2');
    expect(refusal({ configPath: yaml('api-key: [{hunter2: 1}]\n') }).message).not.toContain('hunter2');
  });
});

describe('the catalogue', () => {
  test('every key of the schema is documented, and no flag or variable is used twice', () => {
    const flags = catalog.map((entry) => entry.flag);
    expect(new Set(flags).size).toBe(flags.length);
    expect(new Set(catalog.map((entry) => entry.environment)).size).toBe(flags.length);
    const top = new Set(catalog.map((entry) => entry.path[0]));
    expect(Object.keys(loadConfig().config).filter((key) => !top.has(key))).toEqual([]);
    expect(catalog.filter((entry) => !/^[A-Z].*\.$/s.test(entry.meta.help))).toEqual([]);
  });

  test('the default of every flag, written as text, is accepted and means the same', () => {
    const { config } = loadConfig();
    for (const entry of catalog) {
      const { defaultValue } = entry;
      if (!entry.hasFlag || (typeof defaultValue !== 'number' && typeof defaultValue !== 'string')) continue;
      expect(loadConfig({ flags: { [entry.flag]: String(defaultValue) } }).config).toEqual(config);
      expect(loadConfig({ environment: { [entry.environment]: String(defaultValue) } }).config).toEqual(
        config,
      );
    }
  });
});
