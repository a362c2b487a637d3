import { request as ask, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bounds } from '../../../rest-compat/faces/mcp/bounds.ts';
import { begin, LEGACY, legacy, MODERN, modern, sendMessage, toolCall } from '../../harness/mcp-message.ts';
import { openRestFixture, type RestFixture, succeed } from '../../harness/rest-compat/fake-port.ts';

/* POST /mcp: what is answered before a tool is called, in both generations. */

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture(undefined, {}, new Set(['https://named.test']));
});
afterAll(() => house.close());
beforeEach(() => {
  house.port.beyond = [];
  house.port.crowded = false;
  succeed(house.port, { answer: { keys: [] } });
});

const asModern = (...given: Parameters<typeof modern>) => {
  const { message, headers } = modern(...given);
  return sendMessage(house.url, message, headers);
};

/** A message whose sender says as he likes when it ends. */
function unended(headers: Readonly<Record<string, string>>) {
  const request = ask(`${house.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  });
  const answered = new Promise<IncomingMessage>(resolve => request.once('response', resolve));
  request.on('error', () => {});
  return { request, answered };
}

describe('the generation with a handshake', () => {
  it('initialize answers the version that was asked for, and opens a session', async () => {
    const heard = await sendMessage(house.url, begin);
    expect(heard.status).toBe(200);
    expect(heard.body?.result).toMatchObject({
      protocolVersion: LEGACY,
      capabilities: { tools: {} },
      serverInfo: { name: 'spend-receipt-gateway' },
    });
    expect(house.port.begun).toContain(heard.headers.get('mcp-session-id'));
  });

  it('initialize answers the newest version of its generation where another was asked for', async () => {
    const heard = await sendMessage(house.url, legacy('initialize', { protocolVersion: '1900-01-01' }));
    expect(heard.body?.result).toMatchObject({ protocolVersion: LEGACY });
  });

  it('a session serves for as long as it stands, and is not known from then on: 404', async () => {
    const { headers } = await sendMessage(house.url, begin);
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': LEGACY };
    const begun = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await sendMessage(house.url, begun, session)).toMatchObject({ status: 202, text: '' });
    expect((await sendMessage(house.url, legacy('ping'), session)).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    house.port.begun.clear();
    expect(await sendMessage(house.url, legacy('ping'), session)).toMatchObject({
      status: 404,
      body: { error: { code: -32000 } },
    });
    expect((await sendMessage(house.url, begun, session)).status).toBe(404);
    expect((await sendMessage(house.url, begin, session)).status).toBe(200);
  });

  it('is answered without a session, too', async () => {
    expect((await sendMessage(house.url, legacy('ping', {}, 'a-name'))).body).toEqual({
      jsonrpc: '2.0',
      id: 'a-name',
      result: {},
    });
    expect((await sendMessage(house.url, toolCall('get_jwks'))).body?.result?.structuredContent).toEqual({ keys: [] });
  });

  it('a method that is not known is an error in an answer that is well', async () => {
    expect(await sendMessage(house.url, legacy('resources/list'))).toMatchObject({
      status: 200,
      body: { error: { code: -32601 } },
    });
  });

  it('a version that is not spoken is 400, with those that are', async () => {
    const heard = await sendMessage(house.url, legacy('ping'), { 'mcp-protocol-version': '2024-01-01' });
    expect(heard).toMatchObject({ status: 400, body: { error: { code: -32022, data: { requested: '2024-01-01' } } } });
    expect(heard.body?.error?.data?.supported).toEqual(expect.arrayContaining([MODERN, LEGACY]));
  });

  it('GET is 405: nothing is told unasked', async () => {
    const answer = await fetch(`${house.url}/mcp`, { headers: { accept: 'text/event-stream' } });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
  });

  it('DELETE is 405, and its session goes on: it holds nothing that could be ended', async () => {
    const { headers } = await sendMessage(house.url, begin);
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
    expect((await fetch(`${house.url}/mcp`, { method: 'DELETE', headers: session })).status).toBe(405);
    expect((await sendMessage(house.url, legacy('ping'), session)).status).toBe(200);
  });
});

describe('the generation without a handshake', () => {
  it('server/discover says what is spoken, and for how long that may be kept', async () => {
    const heard = await asModern('server/discover');
    expect(heard).toMatchObject({ status: 200 });
    expect(heard.headers.get('mcp-session-id')).toBeNull();
    expect(heard.body?.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: expect.arrayContaining([MODERN]),
      capabilities: { tools: {}, extensions: { 'org.x402/payment': {} } },
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'spend-receipt-gateway' } },
    });
  });

  it('a list says so, too; a call is complete', async () => {
    expect((await asModern('tools/list')).body?.result).toMatchObject({
      resultType: 'complete',
      cacheScope: 'public',
      tools: expect.any(Array),
    });
    expect((await asModern('tools/call', { name: 'get_jwks' })).body?.result).toMatchObject({ resultType: 'complete' });
  });

  it('a method that is not known is 404', async () => {
    expect(await asModern('ping')).toMatchObject({ status: 404, body: { id: 1, error: { code: -32601 } } });
    expect(await asModern('initialize')).toMatchObject({ status: 404 });
  });

  it.each([
    ['a header that says another version', { 'mcp-protocol-version': LEGACY }],
    ['another method', { 'mcp-method': 'tools/list' }],
    ['another tool', { 'mcp-name': 'chat_completions' }],
    ['no tool', { 'mcp-name': '' }],
  ])('%s than the message is 400', async (_, wrong) => {
    const { message, headers } = modern('tools/call', { name: 'get_jwks' });
    expect(await sendMessage(house.url, message, { ...headers, ...wrong })).toMatchObject({
      status: 400,
      body: { id: 1, error: { code: -32020 } },
    });
  });

  it('a header in base64 says what it encodes', async () => {
    const { message, headers } = modern('tools/call', { name: 'get_jwks' });
    const encoded = `=?base64?${Buffer.from('get_jwks').toString('base64')}?=`;
    expect((await sendMessage(house.url, message, { ...headers, 'mcp-name': encoded })).status).toBe(200);
  });

  it('a version that is not spoken is 400, with those that are', async () => {
    const { message, headers } = modern('tools/list');
    const params = {
      ...message.params,
      _meta: { ...message.params._meta, 'io.modelcontextprotocol/protocolVersion': '2999-01-01' },
    };
    const heard = await sendMessage(
      house.url,
      { ...message, params },
      { ...headers, 'mcp-protocol-version': '2999-01-01' },
    );
    expect(heard).toMatchObject({ status: 400, body: { error: { code: -32022, data: { requested: '2999-01-01' } } } });
  });

  it('a header of this generation without what the message has to say is 400', async () => {
    const heard = await sendMessage(house.url, legacy('tools/list'), { 'mcp-protocol-version': MODERN });
    expect(heard).toMatchObject({ status: 400, body: { error: { code: -32602 } } });
  });

  it('without the capabilities of its client it is 400', async () => {
    const { message, headers } = modern('tools/list');
    const _meta = { 'io.modelcontextprotocol/protocolVersion': MODERN };
    expect(await sendMessage(house.url, { ...message, params: { _meta } }, headers)).toMatchObject({
      status: 400,
      body: { error: { code: -32602 } },
    });
  });
});

describe('what is no message', () => {
  it.each([
    ['no JSON', '{"jsonrpc"', -32700],
    ['a batch of one', [legacy('ping')], -32600],
    ['another protocol', { jsonrpc: '1.0', id: 1, method: 'ping' }, -32600],
    ['a response', { jsonrpc: '2.0', id: 1, result: {} }, -32600],
    ['an id that is none', { jsonrpc: '2.0', id: null, method: 'ping' }, -32600],
    ['params that are a list', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, -32600],
  ])('%s is 400', async (_, message, code) => {
    expect(await sendMessage(house.url, message)).toMatchObject({ status: 400, body: { error: { code } } });
  });

  it('a batch is refused by name: 400', async () => {
    const heard = await sendMessage(house.url, [legacy('ping'), legacy('tools/list', {}, 2)]);
    expect(heard).toMatchObject({
      status: 400,
      body: { error: { code: -32600, message: expect.stringContaining('batches') } },
    });
  });

  it('another media type is 415', async () => {
    expect((await sendMessage(house.url, legacy('ping'), { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it('more than a message may have is 413', async () => {
    const heard = await sendMessage(house.url, 'x'.repeat(bounds.file_message_bytes_max + 1));
    expect(heard).toMatchObject({ status: 413, body: { error: { code: -32000 } } });
  });

  it('one that does not say how long it is may be no longer than one without a file: 413', async () => {
    const { request, answered } = unended({ 'transfer-encoding': 'chunked' });
    request.end(Buffer.alloc(bounds.message_bytes_max + 1, 'x'));
    expect((await answered).statusCode).toBe(413);
  });

  it('a tool that is not there, and a cursor where there is none, are wrong parameters', async () => {
    expect(await sendMessage(house.url, toolCall('rotate_session'))).toMatchObject({
      status: 200,
      body: { error: { code: -32602 } },
    });
    expect((await sendMessage(house.url, legacy('tools/list', { cursor: '2' }))).body?.error?.code).toBe(-32602);
  });
});

describe('the list of tools', () => {
  const listed = (query: string, id: string | number, coding: string) =>
    fetch(`${house.url}/mcp${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': coding },
      body: JSON.stringify({ ...legacy('tools/list'), id }),
    });

  it.each(['gzip', 'br', 'identity'])('in %s is the same text with the id of each request', async coding => {
    const texts: string[] = [];
    for (const id of [0, 1, 'é"', '1']) {
      const answer = await listed('?tools=all&schemas=full', id, coding);
      expect(answer.headers.get('content-encoding')).toBe(coding === 'identity' ? null : coding);
      if (coding !== 'identity') expect(answer.headers.get('vary')).toMatch(/accept-encoding/i);
      const text = await answer.text();
      expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', id, result: { tools: expect.any(Array) } });
      texts.push(text.slice(text.indexOf('"result"')));
    }
    expect(new Set(texts).size).toBe(1);
  });

  it('each combination of sets, in any order', async () => {
    const names = ['inference', 'tasks', 'registration', 'sessions', 'receipts', 'router'];
    for (let bits = 1; bits < 2 ** names.length; bits++) {
      const sets = names.filter((_, at) => bits & (1 << at));
      const [one, other] = [
        await listed(`?tools=${sets}`, 1, 'gzip'),
        await listed(`?tools=${sets.reverse()}`, 1, 'gzip'),
      ];
      const text = await one.text();
      expect(await other.text()).toBe(text);
      expect(text.includes('"quote_task"')).toBe(sets.includes('tasks'));
    }
  });
});

it('an id longer than 1,024 characters is an invalid request', async () => {
  const ask = (length: number) => sendMessage(house.url, legacy('ping', {}, 'x'.repeat(length)));
  expect((await ask(1_024)).status).toBe(200);
  expect(await ask(1_025)).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
});

describe('bounds', () => {
  it('an address without a turn is 429, and told when it has one', async () => {
    house.port.beyond = ['free'];
    const heard = await sendMessage(house.url, legacy('tools/list'));
    expect(heard).toMatchObject({ status: 429, body: { error: { data: { retry_after_seconds: 7 } } } });
    expect(heard.headers.get('retry-after')).toBe('7');
  });

  it('an address whose bodies have no room is 429, with its body unread', async () => {
    house.port.crowded = true;
    expect((await sendMessage(house.url, legacy('ping'))).status).toBe(429);
  });

  it('holds room for a body for no longer than it takes to read it', async () => {
    await sendMessage(house.url, toolCall('get_jwks'));
    expect(house.port.held).toBe(0);
  });
});

describe('the Accept header', () => {
  const asJson = (accept: string) => sendMessage(house.url, legacy('ping'), { accept });

  it.each([
    'application/json, text/event-stream',
    'application/json',
    '*/*',
    '',
    'application/json;q=0.5, text/event-stream;q=0.5',
  ])('%s is answered by one object', async accept => {
    expect((await asJson(accept)).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it.each([
    'text/event-stream',
    'text/*',
    'application/json;q=0, text/event-stream',
    'application/json;q=0.1, text/event-stream',
  ])('%s is answered in events', async accept => {
    const ping = await asJson(accept);
    expect([ping.status, ping.headers.get('content-type'), ping.text]).toEqual([
      200,
      'text/event-stream',
      'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
    ]);
    const called = await sendMessage(house.url, toolCall('get_jwks'), { accept });
    expect(called.text).toMatch(/^event: message\ndata: {.*"structuredContent":{"keys":\[\]}.*}\n\n$/);
  });

  it('in events as well it has its session, and what it tells nobody has no body', async () => {
    const accept = 'text/event-stream';
    const { headers, text } = await sendMessage(house.url, begin, { accept });
    expect(house.port.begun).toContain(headers.get('mcp-session-id'));
    expect(text).toContain(`"protocolVersion":"${LEGACY}"`);
    const begun = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await sendMessage(house.url, begun, { accept })).toMatchObject({ status: 202, text: '' });
  });

  it.each(['text/html', 'application/xml, image/*', 'application/json;q=0, text/event-stream;q=0', '*/*;q=0'])(
    '%s is 406, whose body says so and what is offered, and no tool is called',
    async accept => {
      let executed = 0;
      const { execute } = house.port;
      house.port.execute = async operation => {
        executed++;
        return execute.call(house.port, operation);
      };
      const heard = await sendMessage(house.url, toolCall('get_jwks'), { accept });
      house.port.execute = execute;
      const data = { status: 406, offered: ['application/json', 'text/event-stream'] };
      expect(heard).toMatchObject({ status: 406, body: { error: { code: -32000, data } } });
      expect(executed).toBe(0);
    },
  );

  it('of a message that HTTP refuses leaves its body as it is: clients read that of the status', async () => {
    const accept = 'text/event-stream';
    expect((await sendMessage(house.url, '{', { accept })).body).toMatchObject({ error: { code: -32700 } });
  });
});
