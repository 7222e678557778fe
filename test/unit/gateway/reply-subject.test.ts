import { describe, expect, it } from 'vitest';
import { isClientReply } from '../../../actors/gateway/nats/reply-subject.ts';
import { Subjects } from '../../../transport/subjects.ts';

const subjects = new Subjects('ns');

describe('isClientReply', () => {
  it.each(['_INBOX.abc.1', 'me', 'nsx.requests', 'ns.inbox.client.me.1', 'other.model.small'])(
    'takes %s',
    (reply) => {
      expect(isClientReply(reply, subjects)).toBe(true);
    },
  );

  it.each([
    '',
    'ns.requests',
    'ns.model.small',
    'ns.model.small.r1',
    'ns.gw.gw1',
    'ns.hb.small.r1',
    'ns.inbox.gateway.g.x',
    'ns.inbox.clients.x',
    '$JS.API.x',
    'a.>',
    '*',
    'a b',
    'a..b',
    '.a',
    'a.',
    'a'.repeat(300),
  ])('refuses %j', (reply) => {
    expect(isClientReply(reply, subjects)).toBe(false);
  });
});
