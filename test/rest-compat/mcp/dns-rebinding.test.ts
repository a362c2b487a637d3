import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { legacy } from '../../harness/mcp-message.ts';
import { openRestFixture, type RestFixture } from '../../harness/rest-compat/fake-port.ts';

/* DNS rebinding: whose requests /mcp takes, by Host and Origin. */

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture(undefined, {}, new Set(['https://named.test']));
});
afterAll(() => house.close());

/** Not by fetch, which says the host itself. */
function statusWith(headers: Record<string, string>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request(`${house.url}/mcp`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } })
    .on('response', answer => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
    .on('error', reject)
    .end(JSON.stringify(legacy('ping')));
  return promise;
}

it.each(['localhost:4000', '127.0.0.1', '[::1]:4000', '10.1.2.3:80', 'svc.test'])(
  'the host %s is taken',
  async host => {
    expect(await statusWith({ host })).toBe(200);
  },
);

it.each(['evil.test', 'evil.test:4000', 'localhost.evil.test', '127.0.0.1.evil.test', 'svc.test.evil.test'])(
  'the host %s is 403: a name of a stranger leads here',
  async host => {
    expect(await statusWith({ host })).toBe(403);
  },
);

it.each(['http://localhost:6274', 'https://svc.test', 'https://named.test'])('pages of %s may call', async origin => {
  expect(await statusWith({ origin })).toBe(200);
});

it.each(['https://evil.test', 'null', 'http://10.1.2.3', 'http://named.test'])('pages of %s are 403', async origin => {
  expect(await statusWith({ origin })).toBe(403);
});

it('to a service that is open to all pages, tools are called by those of this machine and its own alone', async () => {
  const open = await openRestFixture(undefined, {}, '*');
  const call = (origin: string) =>
    fetch(`${open.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify(legacy('ping')),
    });
  expect((await call('https://anybody.test')).status).toBe(403);
  expect((await call('http://localhost:1')).status).toBe(200);
  await open.close();
});

it('a page that asks first is told what it may send', async () => {
  const answer = await fetch(`${house.url}/mcp`, {
    method: 'OPTIONS',
    headers: { origin: 'https://named.test', 'access-control-request-method': 'POST' },
  });
  expect(answer.status).toBe(204);
  expect(answer.headers.get('access-control-allow-headers')).toContain('mcp-session-id');
});
