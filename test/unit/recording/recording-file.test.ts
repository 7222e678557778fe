import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { RecordingReader } from '../../../deploy/recording/recording-reader.ts';
import { RecordingWriter } from '../../../deploy/recording/recording-writer.ts';
import { encodeFrame } from '../../../transport/codec.ts';
import { recordEndArbitrary, stepRecordArbitrary } from '../../helpers/record-arbitraries.ts';
import { headerFor, readAll } from '../../helpers/sim-recording.ts';

const dir = mkdtempSync(join(tmpdir(), 'tokenrail-recording-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const header = headerFor(['m1', 'm2'], { id: 'r-stitch', use: 'r-stitch', options: { threshold: 0.1 } });
const end = { requests: 3, ended: 2, steps: 9, missed: 1 };
const messages = fc.sample(fc.oneof(stepRecordArbitrary, recordEndArbitrary), { numRuns: 24, seed: 5 });
let number = 0;

function written(close = true): string {
  const file = join(dir, `${(number += 1)}.rec`);
  const writer = new RecordingWriter(file, header);
  for (let i = 0; i < messages.length; i += 4) writer.write(messages.slice(i, i + 4));
  if (close) writer.close(end);
  expect(statSync(file).size).toBe(writer.sizeBytes);
  return file;
}

/** The chunks as they lie in the file. */
function chunksOf(file: string): Buffer[] {
  const bytes = readFileSync(file);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32LE(at))
    chunks.push(bytes.subarray(at, at + 4 + bytes.readUInt32LE(at)));
  return chunks;
}

const chunk = (payload: Uint8Array): Buffer => {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32LE(payload.byteLength);
  return Buffer.concat([prefix, payload]);
};

const refusal = (file: string): unknown => {
  try {
    return readAll(file);
  } catch (thrown) {
    return thrown;
  }
};

describe('a recording', () => {
  it('is read as it was written, and is for its owner alone', () => {
    const file = written();
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(readAll(file)).toStrictEqual(messages);
    const reader = new RecordingReader(file);
    expect(reader.header).toStrictEqual(header);
    while (reader.next() !== undefined) expect(reader.end).toBeUndefined();
    expect(reader.end).toEqual({ end: true, ...end });
    reader.close();
  });

  it('that is given up has no end, and keeps what was written', () => {
    const file = join(dir, 'given-up.rec');
    const writer = new RecordingWriter(file, header);
    writer.write(messages);
    writer.abandon();
    expect(() => writer.write(messages)).toThrow(/EBADF/);
    const reader = new RecordingReader(file);
    expect(reader.next()).toStrictEqual(messages);
    expect(reader.next()).toBeUndefined();
    expect(reader.end).toBeUndefined();
    reader.close();
  });

  it('of which no more can be written says so by the name of the file', () => {
    const file = join(dir, 'full.rec');
    const writer = new RecordingWriter(file, header);
    writer.abandon(); // a disk that is full fails at the same place
    expect(() => writer.write(messages)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringMatching(/^--out: .*full\.rec: .*stays readable$/) as string,
      }) as Error,
    );
  });

  it('that is no plain file is refused by its name', () => {
    expect(refusal(dir)).toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`--in: ${dir}: `) as string,
    });
  });

  it.each<[string, object, RegExp]>([
    [
      'ids with gaps',
      { models: header.models.map((model) => ({ ...model, id: model.id + 6 })) },
      /header\.models: ids/,
    ],
    [
      'the same id twice',
      { models: header.models.map((model) => ({ ...model, id: 1 })) },
      /header\.models: ids/,
    ],
    ['a home that is no model', { home: 3 }, /header\.home: is none of the models/],
  ])('with a header of %s is refused', (_, change, pattern) => {
    const file = written();
    const [, ...rest] = chunksOf(file);
    writeFileSync(
      file,
      Buffer.concat([chunk(Buffer.from(JSON.stringify({ ...header, ...change }))), ...rest]),
    );
    expect(refusal(file)).toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(pattern) as string,
    });
  });

  it('is never written over', () => {
    const file = written();
    expect(() => new RecordingWriter(file, header)).toThrow(/--out: EEXIST/);
    expect(readAll(file)).toStrictEqual(messages);
  });

  it('cut anywhere behind its header is read up to its last whole chunk', () => {
    const file = written();
    const chunks = chunksOf(file);
    const whole = readFileSync(file);
    const firstLength = chunks[0]?.length ?? 0;
    fc.assert(
      fc.property(fc.integer({ min: firstLength, max: whole.length - 1 }), (length) => {
        writeFileSync(file, whole);
        truncateSync(file, length);
        let [numWhole, at] = [0, firstLength];
        for (const one of chunks.slice(1)) if ((at += one.length) <= length) numWhole += 1;
        const reader = new RecordingReader(file);
        const read = [];
        for (let next = reader.next(); next !== undefined; next = reader.next()) read.push(...next);
        expect(reader.end).toBeUndefined();
        reader.close();
        expect(read).toStrictEqual(messages.slice(0, 4 * numWhole));
      }),
      { numRuns: 60 },
    );
  });

  it('with any bytes changed is read or refused with the name of the file, nothing else', () => {
    const file = written();
    const whole = readFileSync(file);
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(changes, (masks) => {
        const bytes = Buffer.from(whole);
        for (const [at, mask] of masks) bytes[at] = (bytes[at] ?? 0) ^ mask;
        writeFileSync(file, bytes);
        const result = refusal(file);
        if (Array.isArray(result)) return;
        expect(result).toBeInstanceOf(TokenrailError);
        expect((result as TokenrailError).code).toBe('config_invalid');
        expect((result as Error).message).toContain(file);
      }),
      { numRuns: 200 },
    );
  });

  it.each<[string, (file: string) => Uint8Array, RegExp]>([
    ['an empty file', () => Buffer.alloc(0), /is no recording: it has no header/],
    ['another file', () => readFileSync('package.json'), /a chunk of \d+ bytes/],
    ['no header', () => chunk(encodeFrame(messages.slice(0, 1))), /it has no header/],
    [
      'a header of a later version',
      () => chunk(Buffer.from(JSON.stringify({ ...header, version: 2 }))),
      /header\.version/,
    ],
    [
      'a header without models',
      () => chunk(Buffer.from(JSON.stringify({ ...header, models: [] }))),
      /header\.models/,
    ],
    ['a broken header', () => chunk(Buffer.from('{"format":')), /header is no JSON/],
    [
      'a huge chunk',
      (file) => Buffer.concat([readFileSync(file), Buffer.from([255, 255, 255, 127])]),
      /a chunk of 2147483647 bytes/,
    ],
    [
      'a chunk of nothing',
      (file) => Buffer.concat([readFileSync(file), Buffer.alloc(4)]),
      /a chunk of 0 bytes/,
    ],
    [
      'another message',
      (file) => Buffer.concat([readFileSync(file), chunk(encodeFrame([{ kind: 'probe' }]))]),
      /holds a probe, which is no record/,
    ],
    [
      'a field out of range',
      (file) => Buffer.concat([readFileSync(file), chunk(encodeFrame([{ ...recordEnd, model: 256 }]))]),
      /invalid-field record-end\.model/,
    ],
  ])('%s is refused with the reason', (_name, make, problem) => {
    const file = written(false);
    writeFileSync(file, make(file));
    expect(String(refusal(file))).toMatch(problem);
    expect(String(refusal(file))).toContain(file);
  });
});

const recordEnd = {
  kind: 'record-end',
  rid: 'r',
  model: 1,
  replica: 'r0',
  configHash: 'test',
  number: 1,
  reason: 'eos',
  completionTokens: 1,
} as const;
