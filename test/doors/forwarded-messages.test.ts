import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { paidBy, sendMessage, toolCall } from '../harness/mcp-message.ts';
import { answerWith, completion, type HubServer, openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

/* Unknown members of a message reach the hub in each dialect. They are refused by name if no hub can accept them. */

const MESSAGES = '/v1/messages';
const byKey = { 'X-API-Key': 'a-live-key' };
const said = { type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hello' }] };
const message = answerWith({ ...said, stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } });

let service: Service;
const hubs: Record<string, HubServer> = {};
const rows = [
  { name: 'chats', models: ['chat', 'both', 'narrowed'] },
  { name: 'chats-narrow', models: ['chat-narrow'], forward: ['a_b'] },
  { name: 'messages', models: ['message', 'both'], dialect: 'anthropic' },
  { name: 'takes-one', models: ['split'], forward: ['a_b'] },
  { name: 'takes-other', models: ['split'], forward: ['min_p'] },
  { name: 'messages-narrow', models: ['message-narrow'], dialect: 'anthropic', forward: ['a_b'] },
];
beforeAll(async () => {
  for (const { name, dialect } of rows) {
    const hub = await openHubServer(dialect ? message : answerWith(completion));
    atEnd(() => hub[Symbol.asyncDispose]());
    hubs[name] = hub;
  }
  const settings = rows.map(row => ({ ...row, base_url: hubs[row.name]?.base_url, api_key: 'k' }));
  service = await openService({ HUBS: JSON.stringify(settings) });
});
beforeEach(() => {
  for (const hub of Object.values(hubs)) hub.received.length = 0;
});

const hubBodies = () => Object.values(hubs).flatMap(hub => hub.received.map(({ body }) => body as JsonObject));
const unknown = { min_p: 0.1, a_b: { cD: [null, { e_f: '\u0000' }] } };
const weighed: JsonObject = {
  max_tokens: 9,
  system: [{ type: 'text', text: 'Be short.', w: 1 }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Look it up.', w: 2 }], w: 3 },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look_up', input: {}, w: 4 }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'Found.' }], w: 5 }],
    },
  ],
  tools: [{ name: 'look_up', input_schema: { type: 'object' }, w: 6 }],
  ...unknown,
};
const placeless: JsonObject = { thinking: { type: 'adaptive', depth: 2 } };

it('a hub of the dialect is sent all of it as it came', async () => {
  const asked = { ...weighed, ...placeless, model: 'message' };
  expect((await service.post(MESSAGES, asked, byKey)).status).toBe(200);
  expect(hubBodies()).toEqual([asked]);
});

it('a hub of chats is sent it in the part, message, call or tool that its object comes to', async () => {
  expect((await service.post(MESSAGES, { ...weighed, model: 'chat' }, byKey)).status).toBe(200);
  expect(hubBodies()).toEqual([
    {
      model: 'chat',
      max_tokens: 9,
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be short.', w: 1 }] },
        { role: 'user', content: [{ type: 'text', text: 'Look it up.', w: 2 }], w: 3 },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'look_up', arguments: '{}' }, w: 4 }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'Found.', w: 5 },
      ],
      tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } }, w: 6 }],
      ...unknown,
    },
  ]);
});

it('what has no place in a chat goes to a hub of the dialect, whoever else has the model', async () => {
  for (const _ of [1, 2, 3])
    expect((await service.post(MESSAGES, { ...weighed, ...placeless, model: 'both' }, byKey)).status).toBe(200);
  expect([hubs.messages?.received.length, hubs.chats?.received.length]).toEqual([3, 0]);
});

describe('refused by name before anything is claimed', () => {
  it.each<[string, string, JsonObject]>([
    ['thinking.depth', 'chat', placeless],
    ['thinking.depth', 'router/some/model', placeless],
    ['min_p', 'chat-narrow', unknown],
    ['system.0.w', 'chat-narrow', { system: weighed.system as JsonObject[], a_b: 1 }],
    ['top_k', 'chat-narrow', { top_k: 1 }],
    ['min_p', 'message-narrow', unknown],
    ['thinking.depth', 'message-narrow', placeless],
    ['messages.0.w', 'message-narrow', { messages: [{ role: 'user', content: 'x', w: 1 }] }],
    ['provider', 'message', { provider: { order: ['a'] } }],
    ['extra.api_key', 'message', { extra: { api_key: 'sk-other' } }],
  ])('%s, of %s', async (param, model, members) => {
    const asked = { max_tokens: 9, messages: [{ role: 'user', content: 'x' }], model, ...members };
    const payment = await service.payment(await service.chain.newWallet(), MESSAGES);
    const refused = await service.post(MESSAGES, asked, { ...payment, 'X-Router-Key': 'k' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    expect(hubBodies()).toEqual([]);
    const { status } = await service.post(MESSAGES, { ...weighed, model: 'message' }, payment);
    expect(status).toBe(200);
  });

  it('members that no single hub takes together are all named', async () => {
    const asked = { max_tokens: 9, messages: [{ role: 'user', content: 'x' }], model: 'split', ...unknown };
    const { status, body } = await service.post(MESSAGES, asked, byKey);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('no single hub of split accepts min_p, a_b together');
    expect(hubBodies()).toEqual([]);
  });

  it('a hub that narrows what it is passed on is sent what it takes, and what is known', async () => {
    const members = { max_tokens: 9, messages: [{ role: 'user', content: 'x' }], a_b: 1 };
    for (const model of ['chat-narrow', 'message-narrow'])
      expect((await service.post(MESSAGES, { ...members, model }, byKey)).status).toBe(200);
    expect((await service.post(MESSAGES, { ...members, top_k: 1, model: 'message-narrow' }, byKey)).status).toBe(200);
    expect(hubBodies()).toHaveLength(3);
  });
});

it('GraphQL’s extra, and a tool’s arguments, are the same request as REST’s members: one payment buys once', async () => {
  const payment = await service.payment(await service.chain.newWallet(), MESSAGES);
  type Bought = { readonly svc: { readonly task_id: string } };
  const asked = { ...weighed, model: 'message' };
  const { body } = await service.post<Bought>(MESSAGES, asked, payment);
  const { system, messages, tools, model } = asked as JsonObject;
  const input = { system, messages, tools, model, maxTokens: 9, extra: unknown } as JsonObject;
  const mutation = 'mutation ($input: MessageInput!) { createMessage(input: $input) { svc } }';
  const again = await onGraph<{ createMessage: Bought }>(service, mutation, { input }, payment);
  expect(again.data?.createMessage.svc.task_id).toBe(body.svc.task_id);
  const tool = await sendMessage(
    service.url,
    toolCall('create_message', asked, paidBy(payment['PAYMENT-SIGNATURE'] ?? '')),
  );
  expect(tool.body?.result?.structuredContent.svc).toMatchObject({ task_id: body.svc.task_id });
  expect(hubBodies()).toHaveLength(1);
  const other = await service.post(MESSAGES, { ...asked, min_p: 0.2 }, payment);
  expect(other).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
});

it('tokens are counted of a request that holds such members, by REST and by GraphQL', async () => {
  const { max_tokens: _, ...asked } = weighed;
  const rest = await service.post<{ input_tokens: number }>(`${MESSAGES}/count_tokens`, asked);
  expect(rest.status).toBe(200);
  const { system, messages, tools } = asked;
  const query = 'query ($input: MessageTokensInput!) { messageTokens(input: $input) { inputTokens } }';
  const graph = await onGraph<JsonObject>(
    service,
    query,
    { input: { system, messages, tools, extra: unknown } as JsonObject },
    {},
  );
  expect(graph.data?.messageTokens).toEqual({ inputTokens: rest.body.input_tokens });
});
