import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ProtocolParser } from '../../../transport/embedded-broker/parser.ts';
import type { ClientCommand } from '../../../transport/embedded-broker/protocol.ts';

const MAX_PAYLOAD_BYTES = 2000;

/** Parses `chunks` and returns what came out, payloads copied at once. */
function parse(chunks: readonly Uint8Array[]): unknown[] {
  const out: unknown[] = [];
  const parser = new ProtocolParser(
    {
      onCommand: (command) =>
        out.push(command.verb === 'PUB' ? { ...command, body: command.body.toString('latin1') } : command),
      onProtocolError: (text) => out.push({ error: text }),
    },
    MAX_PAYLOAD_BYTES,
  );
  for (const chunk of chunks) parser.push(Buffer.from(chunk));
  return out;
}

/** Cuts `bytes` at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const marks = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return marks.slice(1).map((end, i) => bytes.subarray(marks[i], end));
}

const name = fc.stringMatching(/^[a-z0-9.*>$_-]{1,12}$/);
const payload = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));

interface Sent {
  wire: Buffer;
  command: unknown;
}

const publish = fc.tuple(name, fc.option(name, { nil: '' }), payload).map(([subject, reply, body]): Sent => ({
  wire: Buffer.concat([Buffer.from(`PUB ${subject} ${reply} ${body.length}\r\n`), body, Buffer.from('\r\n')]),
  command: { verb: 'PUB', subject, reply, headerBytes: 0, body: body.toString('latin1') },
}));
const publishWithHeaders = fc.tuple(name, payload, fc.nat()).map(([subject, body, cutAt]): Sent => {
  const headerBytes = cutAt % (body.length + 1);
  const line = `hpub ${subject} ${headerBytes} ${body.length}\n`;
  return {
    wire: Buffer.concat([Buffer.from(line), body, Buffer.from('\r\n')]),
    command: { verb: 'PUB', subject, reply: '', headerBytes, body: body.toString('latin1') },
  };
});
const subscribe = fc.tuple(name, fc.option(name, { nil: '' }), name).map(([subject, queue, sid]): Sent => ({
  wire: Buffer.from(`SUB ${subject}\t${queue} ${sid}\r\n`),
  command: { verb: 'SUB', subject, queue, sid },
}));
const unsubscribe = fc.tuple(name, fc.nat({ max: 9999 })).map(([sid, max]): Sent => ({
  wire: Buffer.from(max === 0 ? `UNSUB ${sid}\r\n` : `UNSUB ${sid} ${max}\r\n`),
  command: { verb: 'UNSUB', sid, max },
}));
const others = fc.constantFrom<Sent>(
  { wire: Buffer.from('PING\r\n'), command: { verb: 'PING' } },
  { wire: Buffer.from('PONG\r\n'), command: { verb: 'PONG' } },
  { wire: Buffer.from('CONNECT {"name":"ü"}\r\n'), command: { verb: 'CONNECT', json: '{"name":"ü"}' } },
);

describe('ProtocolParser', () => {
  test('commands come out as they went in, wherever the stream is cut', () => {
    const stream = fc.array(fc.oneof(publish, publishWithHeaders, subscribe, unsubscribe, others), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (sent, places) => {
        const bytes = Buffer.concat(sent.map(({ wire }) => wire));
        expect(parse(cut(bytes, places))).toEqual(sent.map(({ command }) => command));
      }),
      { numRuns: 400 },
    );
  });

  test('any bytes give commands and at most one error, which is the last', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (bytes, places) => {
          const whole = parse([bytes]);
          expect(
            whole.slice(0, -1).some((one) => typeof one === 'object' && one !== null && 'error' in one),
          ).toBe(false);
          expect(parse(cut(Buffer.from(bytes), places))).toEqual(whole);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('the line limit holds whole or in pieces', () => {
    const line = (length: number): Buffer => Buffer.from(`SUB ${'a'.repeat(length - 6)} 1\r\n`);
    for (const places of [[], [10], [4000], [4095]]) {
      expect(parse(cut(line(4096), places))).toMatchObject([{ verb: 'SUB' }]);
      expect(parse(cut(line(4098), places))).toEqual([{ error: 'Maximum Control Line Exceeded' }]);
    }
  });

  test('a payload of the limit passes, one byte more is refused before it arrives', () => {
    const body = 'x'.repeat(MAX_PAYLOAD_BYTES);
    expect(parse([Buffer.from(`PUB a ${MAX_PAYLOAD_BYTES}\r\n${body}\r\n`)])).toMatchObject([
      { verb: 'PUB', body },
    ]);
    expect(parse([Buffer.from(`PUB a ${MAX_PAYLOAD_BYTES + 1}\r\n`)])).toEqual([
      { error: 'Maximum Payload Violation' },
    ]);
  });

  test('stop ends the chunk being parsed', () => {
    const seen: string[] = [];
    const parser: ProtocolParser = new ProtocolParser(
      {
        onCommand: ({ verb }: ClientCommand) => {
          seen.push(verb);
          parser.stop();
        },
        onProtocolError: (text) => seen.push(text),
      },
      MAX_PAYLOAD_BYTES,
    );
    parser.push(Buffer.from('PING\r\nPING\r\nnonsense\r\n'));
    parser.push(Buffer.from('PING\r\n'));
    expect(seen).toEqual(['PING']);
  });
});
