import { connect, headers as makeHeaders, type NatsConnection } from 'nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeFrame, encodeFrame } from '../../../transport/codec.ts';
import type { Admit, Heartbeat, Message, PeerReq } from '../../../transport/messages.ts';
import { Subjects } from '../../../transport/subjects.ts';
import { ask, type Answer } from '../support/ask.ts';
import { endAll, startServer, type Cli } from '../support/cli.ts';
import { descendants, eventually } from '../support/processes.ts';

const subjects = new Subjects('tokenrail');

let cli: Cli;
let url: string;
let bus: NatsConnection;
let pids: number[];
let expected: string;
/** Every subject that was used, and what a neighbour can learn by listening. */
const seen = new Set<string>();
const replicas = new Map<string, string>();
let admit: Admit | undefined;
/** Length of the log at the last look. */
let looked = 0;

const textOf = (answer: Answer): string | undefined => answer.choices[0]?.message.content;
const askPlain = async (): Promise<string | undefined> => textOf(await ask(url, { temperature: 0 }));
const processes = (): number[] => descendants(cli.pid).map(({ pid }) => pid);

function listen(data: Uint8Array, subject: string): void {
  seen.add(subject);
  for (const message of decodeFrame(data).messages) {
    if (message.kind === 'heartbeat' && message.state === 'serving')
      replicas.set(subject.split('.')[2] ?? '', message.replica);
    if (message.kind === 'admit') admit ??= message;
  }
}

beforeAll(async () => {
  ({ cli, url } = await startServer());
  const broker = /broker: .* at (nats:\S+)/.exec(cli.stdout)?.[1] ?? '';
  bus = await connect({ servers: broker });
  bus.subscribe('tokenrail.>', { callback: (_error, message) => listen(message.data, message.subject) });
  await bus.flush();
  expected = (await askPlain()) ?? '';
  await eventually(() => (replicas.size === 2 && admit !== undefined ? true : undefined));
  pids = processes();
  expect(expected).toContain('The answer is');
});
afterAll(async () => {
  await bus?.close();
  await endAll();
});

/** The deployment goes on as if nothing had been said. */
async function expectUnhurt(): Promise<void> {
  expect(await askPlain()).toBe(expected);
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  // None was started anew. There may be more: a thread that plans brings a transpiler of its own.
  expect(processes()).toEqual(expect.arrayContaining(pids));
  const log = cli.stderr.slice(looked);
  looked = cli.stderr.length;
  expect(log).not.toMatch(/step failed|ended: |Unhandled|uncaught|^\s+at .*\.ts:/im);
}

test('bytes that are no frames, on every subject of the namespace, stop nothing', async () => {
  let state = 7;
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const frame = encodeFrame([admit as Message]);
  const beside = Promise.all([askPlain(), askPlain()]);
  for (const subject of [...seen, subjects.requests(), 'tokenrail.hb.x', 'tokenrail.beacon.x']) {
    for (let i = 0; i < 40; i += 1) {
      const flipped = Uint8Array.from(frame);
      const at = Math.floor(random() * frame.length);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      bus.publish(subject, flipped);
      bus.publish(subject, frame.slice(0, at), { reply: 'tokenrail.inbox.client.x.y' });
      bus.publish(
        subject,
        Uint8Array.from({ length: 40 }, () => random() * 256),
      );
    }
    bus.publish(subject, new Uint8Array(0));
    bus.publish(subject, Uint8Array.of(0x92, 2, 0x90));
    bus.publish(subject, Uint8Array.of(0x92, 1, 0xdd, 0xff, 0xff, 0xff, 0xff));
    bus.publish(subject, new Uint8Array(1_000_000).fill(0x91));
  }
  await bus.flush();
  expect(await beside).toEqual([expected, expected]);
  await expectUnhurt();
});

function template(): { known: Admit; init: Admit['init']; peerReq: Omit<PeerReq, 'rid'> } {
  const known = admit as Admit;
  const home = { model: 1, replica: replicas.get('small') ?? '' };
  const first = known.tokens.slice(0, 3);
  const init = { ...known.init, promptLen: 3, limits: { maxTokens: 40, stopIds: [1] } };
  const common = { kind: 'peer-req', term: 0, hop: 1, from: 1, fromReplica: home.replica, to: 2 } as const;
  const peerReq: Omit<PeerReq, 'rid'> = { ...common, suffix: first, loc: 3, home, init };
  return { known, init, peerReq };
}

/** Says each message to both models, and looks at three answers that are written meanwhile. */
async function sayBesideAnswers(messages: readonly Message[]): Promise<void> {
  const beside = Promise.all([askPlain(), askPlain(), askPlain()]);
  // A name for each delivery, and an inbox of ours for the answer: otherwise the home would send it away at once.
  const reply = 'tokenrail.inbox.client.x.y';
  let numSent = 0;
  for (const message of messages) {
    for (const name of ['small', 'large']) {
      for (const subject of [subjects.model(name), subjects.replica(name, replicas.get(name) ?? '')]) {
        const rid = `hostile-${numSent++}`;
        bus.publish(subject, encodeFrame([{ ...message, rid } as Message]), { reply });
        bus.publish(subject, encodeFrame([{ ...message, rid: `${rid}-bare` } as Message]));
      }
    }
  }
  await bus.flush();
  expect(await beside).toEqual([expected, expected, expected]);
  await expectUnhurt();
}

test('requests with models, homes, lengths and tokens that do not exist hurt no neighbour', async () => {
  const { known, init, peerReq } = template();
  const peers: Partial<PeerReq>[] = [
    { from: 200 },
    { from: 200, fromReplica: 'nobody' },
    { to: 77 },
    { home: { model: 99, replica: 'nobody' } },
    { home: { model: 1, replica: 'nobody' } },
    { home: { model: 2, replica: replicas.get('large') ?? '' } },
    { suffix: [2_147_483_647, 1, 2] },
    { suffix: [], loc: 0 },
    { loc: 4_294_967_295 },
    { init: { ...init, promptLen: 100 } },
    { init: { ...init, router: 'nope' } },
    { init: { ...init, limits: { maxTokens: 4_294_967_295, stopIds: [] } } },
    {
      locs: [
        { model: 99, loc: 5 },
        { model: 1, loc: 4_294_967_295 },
      ],
    },
    { term: 4_294_967_295, hop: 4_294_967_295 },
    { origins: { models: [9, 9, 9], signals: [NaN, Infinity, -1] } },
  ];
  const admits: Partial<Admit>[] = [
    { gateway: 'nobody' },
    { tokens: [2_147_483_647] },
    { tokens: Array<number>(600).fill(5) },
    { tokens: [], init: { ...init, promptLen: 0 } },
    { deadlineMs: 0 },
    { init: { ...init, router: 'nope' } },
  ];
  await sayBesideAnswers([
    ...peers.map((fields) => ({ ...peerReq, rid: '', ...fields })),
    ...admits.map((fields) => ({ ...known, ...fields })),
  ]);
});

test('a handoff with more tokens than prompt and answer may have is refused before it reaches a step', async () => {
  await sayBesideAnswers([{ ...template().peerReq, rid: '', suffix: Array<number>(600).fill(5), loc: 600 }]);
});

test('everything said twice, and everything said again after the end, changes no answer', async () => {
  const record: { subject: string; data: Uint8Array; reply: string | undefined }[] = [];
  const mark = makeHeaders();
  mark.set('said', 'again');
  const mirror = bus.subscribe('tokenrail.>', {
    callback: (_error, { subject, data, reply, headers }) => {
      if (headers !== undefined || !/^tokenrail\.(model|gw)\./.test(subject)) return;
      record.push({ subject, data, reply });
      bus.publish(subject, data, { headers: mark, ...(reply === undefined ? {} : { reply }) });
    },
  });
  // Six at a time: how many messages there are depends on how steps batch them.
  const answers = await Promise.all(Array.from({ length: 6 }, () => askPlain()));
  expect(answers).toEqual(answers.map(() => expected));
  mirror.unsubscribe();
  expect(record.length).toBeGreaterThan(100);
  for (const { subject, data, reply } of record.reverse())
    bus.publish(subject, data, reply === undefined ? {} : { reply });
  await bus.flush();
  await expectUnhurt();
});

test('heartbeats of replicas that are not there neither hide those that are nor shrink the context', async () => {
  const heartbeat: Omit<Heartbeat, 'replica'> = {
    kind: 'heartbeat',
    model: 1,
    instance: 'x',
    configHash: 'other',
    state: 'serving',
    ...{ running: 0, waiting: 0, pending: 0, kvUsedBlocks: 0, kvTotalBlocks: 1 },
    maxModelLenTokens: 1,
    stepAgeMs: 0,
    counters: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x${i}`, i])),
  };
  for (let i = 0; i < 2_000; i += 1)
    bus.publish(subjects.heartbeat('small', `x${i}`), encodeFrame([{ ...heartbeat, replica: `x${i}` }]));
  await bus.flush();
  await expectUnhurt();
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics.length).toBeLessThan(3_000_000);
});
