import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ErrorCode, NatsError } from 'nats';
import { describe, expect, test } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { findExecutable } from '../../../transport/find-executable.ts';
import { isCredentialsRefused, toBusError } from '../../../transport/nats-errors.ts';
import { natsServerConfig } from '../../../transport/nats-server-config.ts';
import { parseServerAddress, printableAddress } from '../../../transport/server-address.ts';

describe('server addresses', () => {
  test.each([
    ['nats://127.0.0.1:4333', { host: '127.0.0.1', port: 4333 }],
    ['localhost', { host: 'localhost', port: 4222 }],
    ['broker.example:1', { host: 'broker.example', port: 1 }],
    ['nats://[::1]:4222', { host: '::1', port: 4222 }],
    ['nats://u:p%40ss@h:5', { host: 'h', port: 5, user: 'u', pass: 'p@ss' }],
    ['nats://t0ken@h', { host: 'h', port: 4222, token: 't0ken' }],
    ['tls://h:4443', { host: 'h', port: 4443 }],
  ])('%s', (url, expected) => {
    expect(parseServerAddress(url)).toEqual(expected);
  });

  test.each(['', 'http://h:1', 'nats://', 'nats://h:70000', 'nats://h:x'])('%j is none', (url) => {
    expect(parseServerAddress(url)).toBeUndefined();
  });

  test('printing leaves credentials out and keeps IPv6 readable', () => {
    expect(printableAddress({ host: 'h', port: 5, user: 'u', pass: 'p' })).toBe('h:5');
    expect(printableAddress({ host: '::1', port: 5 })).toBe('[::1]:5');
  });
});

describe('errors of the client', () => {
  test.each([
    [ErrorCode.NoResponders, 'no_responders'],
    [ErrorCode.Timeout, 'bus_timeout'],
    [ErrorCode.MaxPayloadExceeded, 'payload_over_bus_limit'],
    [ErrorCode.BadSubject, 'illegal_state'],
    [ErrorCode.ConnectionClosed, 'bus_unavailable'],
    [ErrorCode.ConnectionDraining, 'bus_unavailable'],
    [ErrorCode.ConnectionRefused, 'bus_unavailable'],
    [ErrorCode.Disconnect, 'bus_unavailable'],
    [ErrorCode.AuthorizationViolation, 'bus_unavailable'],
    ['SOMETHING_NEW', 'bus_unavailable'],
  ] as const)('%s becomes %s, with the cause kept', (code, expected) => {
    const cause = new NatsError('text', code);
    expect(toBusError(cause, 'publish')).toMatchObject({ code: expected, cause });
  });

  test('our own errors pass, foreign ones are an unavailable bus', () => {
    const own = new TokenrailError('config_invalid', 'x');
    expect(toBusError(own, 'connect')).toBe(own);
    expect(toBusError(new Error('socket'), 'connect').code).toBe('bus_unavailable');
  });

  test('refused credentials are told apart from servers that are not there', () => {
    expect(isCredentialsRefused(new NatsError('x', ErrorCode.AuthorizationViolation))).toBe(true);
    expect(isCredentialsRefused(new NatsError('x', ErrorCode.ConnectionRefused))).toBe(false);
    expect(isCredentialsRefused(new Error('Authorization Violation'))).toBe(false);
  });
});

describe('finding a program', () => {
  test('the first executable file on absolute folders of the path', () => {
    const folders = ['a', 'b', 'c'].map((name) => mkdtempSync(join(tmpdir(), `find-${name}-`)));
    const [plain = '', first = '', second = ''] = folders;
    for (const folder of folders) writeFileSync(join(folder, 'prog'), '#!/bin/sh\n');
    for (const folder of [first, second]) chmodSync(join(folder, 'prog'), 0o755);
    const path = ['', 'relative', '/nonexistent', plain, first, second].join(delimiter);
    expect(findExecutable('prog', path)).toBe(join(first, 'prog'));
    expect(findExecutable('prog', plain)).toBeUndefined();
    expect(findExecutable('prog', '')).toBeUndefined();
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
});

describe('configuration of a private nats-server', () => {
  test('binds where told, on a free port, and quotes what it is given', () => {
    const settings = {
      host: '127.0.0.1',
      port: 0,
      maxPayloadBytes: 5,
      portsFolder: '/tmp/a b',
      token: 'x" }\nport: 1',
    };
    expect(natsServerConfig(settings).split('\n')).toEqual([
      'host: "127.0.0.1"',
      'port: -1',
      'max_payload: 5',
      'ports_file_dir: "/tmp/a b"',
      'authorization: { token: "x\\" }\\nport: 1" }',
      '',
    ]);
    expect(natsServerConfig({ host: 'h', port: 9, maxPayloadBytes: 5, portsFolder: '/p' })).not.toContain(
      'authorization',
    );
  });
});
