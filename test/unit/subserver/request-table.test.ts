import { describe, expect, it } from 'vitest';
import { ReadyQueue } from '../../../actors/subserver/ready-queue.ts';
import { RequestTable, type FinishedRecord } from '../../../actors/subserver/request-table.ts';
import { guestRequest, homeRequest } from '../../helpers/live-requests.ts';

describe('the request table', () => {
  it('keeps guests of two homes of one request apart', () => {
    const table = new RequestTable();
    const [first, second] = [guestRequest('req-1', 1, 'r0'), guestRequest('req-1', 2, 'r1')];
    table.add(first);
    table.add(second);
    expect([table.size, table.numAtHome]).toEqual([2, 0]);
    expect(table.guest('req-1', 'r1')).toBe(second);
    expect(table.home('req-1')).toBeUndefined();
    table.remove(first);
    table.remove(first);
    expect(table.guests('req-1')).toEqual([second]);
    table.remove(second);
    expect([table.size, table.guests('req-1')]).toEqual([0, []]);
  });

  it('counts the requests at home', () => {
    const table = new RequestTable();
    const request = homeRequest('req-1', 1);
    table.add(request);
    table.add(guestRequest('req-2', 2, 'r9'));
    expect([table.size, table.numAtHome, table.home('req-1')]).toEqual([2, 1, request]);
    table.remove(request);
    expect([table.size, table.numAtHome]).toEqual([1, 0]);
  });

  it('a late release of an older term opens no door', () => {
    const table = new RequestTable();
    table.bury('req-1', 2);
    table.bury('req-1', 1);
    expect([1, 2, 3].map((term) => table.isBuried('req-1', term))).toEqual([true, true, false]);
    expect(table.isBuried('req-2', 0)).toBe(false);
  });

  it('forgets the oldest tombstones and records, and keeps a bounded number', () => {
    const table = new RequestTable();
    const finish = { kind: 'finish', rid: '', term: 0, reason: 'eos' } as unknown as FinishedRecord['finish'];
    const record: FinishedRecord = { gateway: 'gw', ids: [], origins: { models: [], signals: [] }, finish };
    for (let i = 0; i < 10_000; i += 1) {
      table.bury(`req-${i}`, 0);
      table.remember(`req-${i}`, record);
      if (i === 500) table.bury('req-0', 0);
      if (i % 300 === 0) table.remember('req-0', record); // said again: young again
    }
    const rids = Array.from({ length: 10_000 }, (_, i) => `req-${i}`);
    expect(rids.filter((rid) => table.isBuried(rid, 0))).toHaveLength(8192);
    const known = rids.filter((rid) => table.recall(rid) !== undefined);
    expect(known).toHaveLength(512);
    expect(known[0]).toBe('req-0');
    expect(table.isBuried('req-9999', 0)).toBe(true);
  });
});

describe('the ready queue', () => {
  it('keeps the order of arrival, and the place of a member that is pushed again', () => {
    const queue = new ReadyQueue();
    const [a, b] = [homeRequest('req-a', 1), homeRequest('req-b', 2)];
    expect(queue.oldestReadyMs).toBeUndefined();
    queue.push(b, 10);
    queue.push(a, 20);
    queue.push(b, 30);
    expect([...queue.values()]).toEqual([b, a]);
    expect(queue.oldestReadyMs).toBe(10);
    queue.remove(b);
    expect([queue.size, queue.oldestReadyMs, queue.has(b)]).toEqual([1, 20, false]);
    queue.push(b, 40);
    expect(queue.oldestReadyMs).toBe(20);
  });
});
