import { lookup } from 'node:dns/promises';
import { describe, expect, it } from 'vitest';
import { attempt, faults } from '../../../gateway/webhooks/attempt.ts';
import { openNameServer } from '../../harness/webhook/name-server.ts';

/* How a receiver's name is looked up: by a name server on loopback, which anybody may keep for a name of theirs. */

const ADDRESS = [93, 184, 216, 34];
const LOOPBACK_6 = [...Array<number>(15).fill(0), 1];

describe('a receiver’s name', () => {
  it('whose server is silent holds up no other look-up of the process, however many there are', async () => {
    const silent = await openNameServer(() => null);
    const ended: string[] = [];
    const waiting = Array.from({ length: 16 }, (_, index) =>
      silent.resolve(`silent-${index}.example`).then(found => {
        ended.push('silent');
        return found;
      }),
    );
    await expect.poll(silent.asked).toBeGreaterThan(16);
    await lookup('localhost').then(() => ended.push('another'));
    expect(ended).toEqual(['another']);
    for (const found of await Promise.all(waiting)) expect(found).toEqual([]);
  });

  it('is known by the addresses of both families', async () => {
    const both = await openNameServer(type => (type === 'A' ? ADDRESS : LOOPBACK_6));
    expect(await both.resolve('both.example')).toEqual(['93.184.216.34', '::1']);
    const { signal } = new AbortController();
    const request = { url: 'https://both.example/', headers: {}, body: '{}', signal };
    const outcome = await attempt(request, { reach: 'public', resolve: both.resolve });
    expect(outcome).toMatchObject({ kind: 'failed', error: faults.address_refused });
  });

  it('is known by one family where there is none of the other, and by none where there is none', async () => {
    const one = await openNameServer(type => (type === 'A' ? ADDRESS : []));
    expect(await one.resolve('one.example')).toEqual(['93.184.216.34']);
    const none = await openNameServer(() => []);
    expect(await none.resolve('none.example')).toEqual([]);
  });
});
