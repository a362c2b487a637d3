import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { Forwarder } from '../../../gateway/commands/mcp/forward.ts';
import { readToolService } from '../../../gateway/config/tool-service.ts';
import { bounds } from '../../../rest-compat/faces/mcp/bounds.ts';
import { limits } from '../../../schema/limits.ts';
import { Secret } from '../../../schema/secret.ts';
import { runCommand } from '../../harness/commands/run.ts';
import { ask, type Service, sharedService } from '../../harness/doors/open-service.ts';
import { begin, legacy, modern, toolCall as usage } from '../../harness/mcp-message.ts';
import { withParentDeathSignal } from '../../harness/parent-death-signal.ts';
import { payTool, useTool } from '../../harness/paying-tools.ts';
import { atEnd } from '../../harness/release.ts';
import { openRestFixture } from '../../harness/rest-compat/fake-port.ts';
import { ROOT } from '../../harness/root.ts';

describe('npm run mcp', () => {
  let service: Service;
  let agent: Awaited<ReturnType<Service['newAgent']>>;
  let client: Client;
  beforeAll(async () => {
    service = await sharedService();
    agent = await service.newAgent();
    client = await connect({ SERVICE_URL: service.url, SVC_SESSION: agent.session });
  });

  it('forwards a free tool', async () => {
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(30);
    expect(tools.length).toBeLessThan(60);
    expect((await useTool(client, 'get_jwks')).structuredContent).toHaveProperty('keys');
  });

  it('lists what SVC_TOOLS and SVC_SCHEMAS ask for, as the URL of the endpoint does', async () => {
    const other = await connect({ SERVICE_URL: service.url, SVC_TOOLS: 'log, tasks', SVC_SCHEMAS: 'full' });
    const { tools } = await other.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['quote_task', 'get_log_proof']));
    for (const tool of tools) expect(tool.outputSchema, tool.name).toBeDefined();
    await expect(connect({ SERVICE_URL: service.url, SVC_TOOLS: 'logs' })).rejects.toThrow(/Unknown tool set: logs/);
  });

  it('shows the session that its variable names', async () => {
    const { agent_id } = agent;
    expect((await useTool(client, 'get_book_gaps', { agent_id })).structuredContent).toMatchObject({ gapless: true });
  });

  it('has no wallet: what is asked for reaches its client, and so does what the payment of that one brings', async () => {
    const { result } = await payTool(client, agent.account, 'chat_completions', ask('by stdio'));
    expect(result.structuredContent.svc).toMatchObject({ amount: '2000' });
    expect(result._meta['x402/payment-response']).toMatchObject({ success: true });
  });

  it('passes on how long work is coming along, before its result', async () => {
    // With a raw request: the official client drops its progress listener if the result arrives in the same read.
    const call = legacy('tools/call', { name: 'get_jwks', arguments: {}, _meta: { progressToken: 'news' } }, 2);
    const { out } = await runMcp({ SERVICE_URL: service.url }, [begin, call]);
    const [, news, result] = out.map(line => JSON.parse(line));
    expect(news).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'news', progress: 0 } });
    expect(result).toMatchObject({ id: 2, result: { structuredContent: { keys: expect.any(Array) } } });
  });
});

describe('the credentials of npm run mcp', () => {
  const API_KEY = 'api-key-0123456789abcdef';
  const ROUTER_KEY = 'sk-or-v1-0123456789abcdef';
  const keys = { SVC_API_KEY: API_KEY, SVC_ROUTER_KEY: ROUTER_KEY };
  /** A handshake, a long answer, a purchase by key, and an invalid message. */
  const lines = [begin, legacy('tools/list', {}, 2), usage('chat_completions', ask('by key')), 'no JSON', []];

  it('arrive each by its header at the door behind a tool, and stand in nothing that is written', async () => {
    const house = await openRestFixture();
    const { out, errors } = await runMcp({ SERVICE_URL: house.url, ...keys }, lines);
    const shown = house.port.seen.at(-1);
    expect(shown).toMatchObject({ api_key: API_KEY, sessions: [], payment: null });
    expect(shown?.router_key?.reveal()).toBe(ROUTER_KEY);
    expect(out).toHaveLength(lines.length);
    requireNone([...out, errors].join());
    await house.close();
  });

  it.each<[string, () => Promise<{ url: string }> | { url: string }]>([
    ['is away', () => ({ url: 'http://127.0.0.1:1' })],
    ['breaks', () => standing(500, 'text/html', '<html>')],
    ['sends us elsewhere', () => standing(302, 'text/html', '<html>')],
    ['says what is no JSON', () => standing(200, 'application/json', '{"jsonrpc"')],
  ])('stand in nothing that is written where the service %s', async (_, opened) => {
    const { url } = await opened();
    const { out, errors } = await runMcp({ SERVICE_URL: url, ...keys }, lines);
    expect(out).toHaveLength(lines.length);
    requireNone([...out, errors].join());
  });

  it.each([
    ['by http to another machine', { SERVICE_URL: 'http://svc.test' }],
    ['by what is no URL', { SERVICE_URL: 'svc.test' }],
  ])('stand in nothing that is written where it does not start, as they would go %s', async (_, environment) => {
    const { out, errors } = await runMcp({ ...keys, ...environment }, []);
    expect(out).toEqual([]);
    expect(errors).toContain('SERVICE_URL');
    requireNone(errors);
  });

  function requireNone(written: string): void {
    for (const secret of [API_KEY, ROUTER_KEY, btoa(API_KEY), btoa(ROUTER_KEY)])
      expect(written.includes(secret)).toBe(false);
  }
});

/** Everything that the command writes to either stream for these messages. */
async function runMcp(environment: Record<string, string>, messages: readonly unknown[]) {
  const input = messages.map(each => `${typeof each === 'string' ? each : JSON.stringify(each)}\n`).join('');
  const { out, err } = await runCommand('gateway/commands/mcp.ts', [], { environment, input });
  return { out: out.split('\n').filter(Boolean), errors: err };
}

async function connect(env: Record<string, string>): Promise<Client> {
  const [command, args] = withParentDeathSignal(process.execPath, ['gateway/launch.js', 'gateway/commands/mcp.ts']);
  const client = new Client({ name: 'test', version: '1' });
  atEnd(() => client.close());
  await client.connect(new StdioClientTransport({ command, args, env, cwd: ROOT, stderr: 'inherit' }) as never);
  return client;
}

/** All answers to some lines. */
async function forwardLines(service: { url: string }, ...messages: unknown[]): Promise<Record<string, unknown>[]> {
  const lines: string[] = [];
  const forwarder = new Forwarder({ ...service, credentials: {}, query: '' }, line => lines.push(line));
  for (const message of messages) {
    await forwarder.forward(typeof message === 'string' ? message : JSON.stringify(message));
  }
  return lines.map(line => JSON.parse(line));
}

/** A server at an address in place of the service. */
async function standing(status: number, media: string, body: string): Promise<{ url: string }> {
  const server = createServer((_, answer) => answer.writeHead(status, { 'content-type': media }).end(body));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const paid = { 'x402/payment': { x402Version: 2 } };

describe('what is forwarded', () => {
  it('says in headers what a message of the newer generation says, names that no header carries included', async () => {
    const house = await openRestFixture();
    const [listed, unknown] = await forwardLines(
      house,
      modern('tools/list').message,
      modern('tools/call', { name: 'ünknown' }).message,
    );
    expect(listed).toMatchObject({ result: { resultType: 'complete' } });
    expect(unknown).toMatchObject({ error: { code: -32602, message: 'Unknown tool: ünknown' } });
    await house.close();
  });

  it('goes on without a session that the service has forgotten', async () => {
    const [one, other] = await Promise.all([openRestFixture(), openRestFixture()]);
    const service = { url: one.url, credentials: {}, query: '' };
    const lines: string[] = [];
    const forwarder = new Forwarder(service, line => lines.push(line));
    await forwarder.forward(JSON.stringify(begin));
    service.url = other.url;
    await forwarder.forward(JSON.stringify(legacy('ping', {}, 2)));
    expect(JSON.parse(lines[1] ?? '')).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
    await Promise.all([one.close(), other.close()]);
  });

  it('a notification is not answered, nor is what stands in its place', async () => {
    const house = await openRestFixture();
    expect(await forwardLines(house, { jsonrpc: '2.0', method: 'notifications/initialized' })).toEqual([]);
    await house.close();
    expect(
      await forwardLines({ url: 'http://127.0.0.1:1' }, { jsonrpc: '2.0', method: 'notifications/cancelled' }),
    ).toEqual([]);
  });

  it('a line that is no message is told so', async () => {
    expect(await forwardLines({ url: 'http://127.0.0.1:1' }, 'no JSON', [])).toMatchObject([
      { error: { code: -32700 } },
      { error: { code: -32700 } },
    ]);
  });

  const pictured = (bytes: number) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [], structuredContent: { b64_json: 'A'.repeat(bytes) } },
    });

  it('pictures of the largest size come through, several at once', async () => {
    const service = await standing(200, 'application/json', pictured(2 * limits.image_answer_bytes_max));
    const lines: number[] = [];
    const forwarder = new Forwarder({ ...service, credentials: {}, query: '' }, line => lines.push(line.length));
    const asked = Array.from({ length: 4 }, () => forwarder.forward(JSON.stringify(usage('generate_image', {}, paid))));
    await Promise.all(asked);
    expect(lines).toHaveLength(4);
    for (const length of lines) expect(length).toBeGreaterThan(2 * limits.image_answer_bytes_max);
  });

  it('what is longer than any answer is not read to its end, and holds up no other', async () => {
    const long = await standing(200, 'application/json', pictured(bounds.answer_bytes_max));
    const service = { url: long.url, credentials: {}, query: '' };
    const lines: string[] = [];
    const forwarder = new Forwarder(service, line => lines.push(line));
    await forwarder.forward(JSON.stringify(usage('generate_image', {}, paid)));
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('the same payment') },
    });
    service.url = (await standing(200, 'application/json', pictured(2 * bounds.short_answer_bytes_max))).url;
    await forwarder.forward(JSON.stringify(usage('generate_image', {}, paid)));
    expect(JSON.parse(lines[1] ?? '')).toHaveProperty('result');
  });

  it('long messages are sent one after the other, beside short ones', async () => {
    const counted = { long: 0, most: 0 };
    const server = createServer((request, answer) => {
      const is_long = Number(request.headers['content-length']) > bounds.message_bytes_max;
      if (is_long) counted.most = Math.max(counted.most, ++counted.long);
      request.resume().once('end', () =>
        setImmediate(() => {
          if (is_long) counted.long -= 1;
          answer.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}');
        }),
      );
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    atEnd(() => void server.close());
    const lines: string[] = [];
    const service = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, credentials: {}, query: '' };
    const forwarder = new Forwarder(service, line => lines.push(line));
    const long = JSON.stringify(legacy('ping', { junk: 'x'.repeat(bounds.message_bytes_max) }));
    await Promise.all([long, long, JSON.stringify(legacy('ping')), long].map(line => forwarder.forward(line)));
    expect(lines).toHaveLength(4);
    expect(counted).toEqual({ long: 0, most: 1 });
  });

  it('an error without an id has the one of what it answers', async () => {
    const house = await openRestFixture();
    house.port.crowded = true;
    expect(await forwardLines(house, legacy('ping', {}, 'mine'))).toMatchObject([
      { id: 'mine', error: { code: -32000 } },
    ]);
    await house.close();
  });

  it.each([
    ['nobody', async () => ({ url: 'http://127.0.0.1:1' })],
    ['a proxy that has lost the service', () => standing(502, 'text/html', '<html>')],
    ['JSON of somebody else', () => standing(200, 'application/json', '{}')],
    ['events that break off', () => standing(200, 'text/event-stream', 'data: {"method":"x"}\n\n')],
  ])('%s answers: a payment may have been taken, and is to be sent again', async (_, opened) => {
    const answers = await forwardLines(await opened(), usage('chat_completions', {}, paid));
    expect(answers.at(-1)).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('with the same payment') },
    });
    const free = await forwardLines(await opened(), usage('get_jwks'));
    expect(free.at(-1)).toMatchObject({ id: 1, error: { message: expect.not.stringContaining('payment') } });
  });
});

describe('what it is told by its variables', () => {
  it('each credential by its header, hidden from logs', () => {
    const given = readToolService({
      SERVICE_URL: 'https://svc.test/',
      SVC_API_KEY: 'a-key',
      SVC_SESSION: ' a-session ',
    });
    expect(given.url).toBe('https://svc.test');
    expect(Object.keys(given.credentials)).toEqual(['x-api-key', 'x-svc-session']);
    expect(given.credentials['x-svc-session']).toBeInstanceOf(Secret);
    expect(given.credentials['x-svc-session']?.reveal()).toBe('a-session');
  });

  it.each([
    ['no URL', { SERVICE_URL: 'svc.test' }],
    ['a credential that is more than one header', { SERVICE_URL: 'https://svc.test', SVC_SESSION: 'a\r\nx: y' }],
    ['a credential that would leave this machine in the clear', { SERVICE_URL: 'http://svc.test', SVC_API_KEY: 'a' }],
  ])('%s is refused, and not repeated', (_, environment) => {
    expect(() => readToolService(environment)).toThrow(/^(SERVICE_URL|SVC_SESSION)/);
  });
});
