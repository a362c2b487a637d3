import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { doorServerOptions } from '../../rest-compat/http/server-options.ts';
import { openRestFixture, payment, type RestFixture } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture(everyDoor, {
    requestTimeout: 200,
    http: { ...doorServerOptions.http, headersTimeout: 100, connectionsCheckingInterval: 50 },
  });
});
afterAll(() => house.close());

const chat = [
  'POST /v1/chat/completions HTTP/1.1',
  'host: x',
  'content-type: application/json',
  `payment-signature: ${payment}`,
];

async function begin(...lines: readonly string[]) {
  const socket = connect(house.socket_port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write([...chat, ...lines].join('\r\n'));
  return socket;
}

describe('a paid request that does not come whole', () => {
  it.each([
    ['whose headers do not end', ['x-more: 1']],
    ['whose body is announced and does not come', ['content-length: 90', '', '']],
    ['whose body stops half-way', ['content-length: 90', '', '{"messages":[']],
    ['whose chunks stop', ['transfer-encoding: chunked', '', '2', '{"', '']],
  ])('%s: 408 request_timeout, as a problem, and the connection is closed', async (_, lines) => {
    const heard = await text(await begin(...lines));
    const [head = '', body = ''] = heard.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(head).toMatch(/^connection: close$/im);
    expect(head).toMatch(/^content-type: application\/problem\+json/im);
    expect(JSON.parse(body)).toMatchObject({ status: 408, code: 'request_timeout' });
  });

  it.each([
    ['whose chunk has a size that is none', ['transfer-encoding: chunked', '', 'zz', '{}', '']],
    ['whose sender goes away', null],
  ])('%s: the house goes on', async (_, lines) => {
    const socket = await begin(...(lines ?? ['content-length: 90', '', '{"mess']));
    socket.on('error', () => {});
    if (lines) expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
    else socket.destroy();
    expect((await house.get('/health')).status).toBe(200);
  });

  it('and in service the time for the headers is within that for the whole: Node would swap the two', () => {
    expect(doorServerOptions.http.headersTimeout).toBeLessThan(doorServerOptions.requestTimeout);
  });

  it('none of it was executed', () => expect(house.port.calls).toEqual([]));
});
