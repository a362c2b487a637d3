import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { paidBy, sendMessage, toolCall } from '../harness/mcp-message.ts';
import { answerWith, type HubServer, openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

/* Unknown members of an embeddings request reach the hub. They are refused by name if no hub can accept them. */

const EMBEDDINGS = '/v1/embeddings';
const byKey = { 'X-API-Key': 'a-live-key' };
const vectors = answerWith({ data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 1, total_tokens: 1 } });

let service: Service;
let open: HubServer;
let narrow: HubServer;
beforeAll(async () => {
  [open, narrow] = [await openHubServer(vectors), await openHubServer(vectors)];
  for (const hub of [open, narrow]) atEnd(() => hub[Symbol.asyncDispose]());
  const settings = { api_key: 'k', models: ['some/chat'] };
  const hubs = [
    {
      ...settings,
      name: 'narrow',
      base_url: narrow.base_url,
      embedding_models: ['narrow', 'both'],
      forward: ['truncate'],
    },
    { ...settings, name: 'open', base_url: open.base_url, embedding_models: ['open', 'both'] },
  ];
  service = await openService({ HUBS: JSON.stringify(hubs) });
});
beforeEach(() => {
  for (const hub of [open, narrow]) hub.received.length = 0;
});

const unknown = { input_type: 'query', a_b: { cD: [null, { e_f: '\u0000' }] } };
const embeddingRequest = { model: 'open', input: ['A fox'], ...unknown };
const hubBodies = () => [...narrow.received, ...open.received].map(({ body }) => body);

it('the hub gets it as it came, and the payment is bound to it', async () => {
  const payment = await service.payment(await service.chain.newWallet(), EMBEDDINGS);
  const said = { intent_id: 'i', user: 'me', metadata: { a: '1' }, safety_identifier: 'me', user_id: 'me' };
  expect((await service.post(EMBEDDINGS, { ...embeddingRequest, ...said }, payment)).status).toBe(200);
  expect(hubBodies()).toEqual([embeddingRequest]);
  const other = await service.post(EMBEDDINGS, { ...embeddingRequest, ...said, input_type: 'document' }, payment);
  expect(other).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
});

it('GraphQL’s extra, and a tool’s arguments, are the same request as REST’s members: one payment buys once', async () => {
  type Bought = { readonly svc: { readonly task_id: string } };
  const payment = await service.payment(await service.chain.newWallet(), EMBEDDINGS);
  const { task_id } = (await service.post<Bought>(EMBEDDINGS, embeddingRequest, payment)).body.svc;
  const input = { model: 'open', input: ['A fox'], extra: unknown };
  const mutation = 'mutation ($input: EmbeddingsInput!) { createEmbeddings(input: $input) { svc } }';
  const again = await onGraph<{ createEmbeddings: Bought }>(service, mutation, { input }, payment);
  expect(again.data?.createEmbeddings.svc.task_id).toBe(task_id);
  const tool = await sendMessage(
    service.url,
    toolCall('create_embeddings', embeddingRequest, paidBy(payment['PAYMENT-SIGNATURE'] ?? '')),
  );
  expect(tool.body?.result?.structuredContent.svc).toMatchObject({ task_id });
  expect(hubBodies()).toHaveLength(1);
});

it('a hub that names what it forwards is asked for that alone', async () => {
  expect((await service.post(EMBEDDINGS, { model: 'narrow', input: 'x', truncate: 'END' }, byKey)).status).toBe(200);
  for (const _ of [1, 2, 3])
    expect((await service.post(EMBEDDINGS, { model: 'both', input: 'x', ...unknown }, byKey)).status).toBe(200);
  expect([narrow.received.length, open.received.length]).toEqual([1, 3]);
});

describe('400 with the name, and nothing is claimed', () => {
  it.each<[string, JsonObject]>([
    ['input_type', { model: 'narrow', input_type: 'query' }],
    ['api_base', { api_base: 'https://a.example' }],
    ['extra.dimensions', { extra: { dimensions: 2 } }],
    ['Dimensions', { Dimensions: 2 }],
    ['deep', { deep: nested(33) }],
    ['n', { n: 2 }],
  ])('%s', async (param, members) => {
    const payment = await service.payment(await service.chain.newWallet(), EMBEDDINGS);
    const refused = await service.post(EMBEDDINGS, { model: 'open', input: 'x', ...members }, payment);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    expect(hubBodies()).toEqual([]);
    expect((await service.post(EMBEDDINGS, embeddingRequest, payment)).status).toBe(200);
  });
});

function nested(levels: number): JsonObject {
  return levels === 1 ? {} : { a: nested(levels - 1) };
}
