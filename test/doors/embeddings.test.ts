import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { EmbeddingsAnswer } from '../../rest-compat/inference/answers.ts';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { fromBase64, toBase64 } from '../../subgraphs/receipt/inference/embeddings/vectors.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { payingFetch } from '../harness/buyer.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { openService, type ReceiptBody, resetHubsBeforeEach, type Service } from '../harness/doors/open-service.ts';
import { testPaidDoor } from '../harness/doors/paid-door.ts';
import { sendMessage, toolCall } from '../harness/mcp-message.ts';

const EMBEDDINGS = '/v1/embeddings';
type Answer = Omit<z.infer<typeof EmbeddingsAnswer>, 'svc'> & { readonly svc: ReceiptBody };

let service: Service;
beforeAll(async () => {
  service = await openService({}, { media: true });
});
resetHubsBeforeEach(() => service);

async function buy(body: JsonObject) {
  const payer = await service.chain.newWallet();
  const heard = await service.knock<Answer>('POST', EMBEDDINGS, { body, by: payingFetch(payer) });
  return { ...heard, payer };
}

const BETA = { model: 'beta-embedding' };
/** Makes beta answer with this body instead of vectors. */
const betaSays = (body: unknown) => service.hubs[1].behave({ kind: 'status', status: 200, body });
const hubSays = (...vectors: readonly unknown[]) =>
  betaSays({ data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })) });
const vectorsOf = ({ data }: Answer) => data.map(({ embedding }) => embedding);

/** Checks the commitment of the receipt by hashing the answer again. */
function expectCommitted(text: string): void {
  const { data, svc } = JSON.parse(text) as { readonly data: Json; readonly svc: ReceiptBody };
  const { fulfillment } = svc.payload as unknown as { fulfillment: { output_commitment: JsonObject } };
  expect(fulfillment.output_commitment).toMatchObject({
    status: 'committed',
    kind: 'sha256',
    hash: canonicalHash(data),
  });
}

describe(`POST ${EMBEDDINGS} 200`, () => {
  it('by the official x402 client: a vector of numbers, and its receipt, which verifies offline', async () => {
    const { status, body, headers, text, payer } = await buy({ input: 'A lighthouse at night' });
    expect(status).toBe(200);
    const { svc, ...answer } = body;
    expect(Object.keys(answer)).toEqual(['object', 'data', 'model', 'usage']);
    expect(answer).toMatchObject({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: expect.arrayContaining([expect.any(Number)]) }],
      usage: { prompt_tokens: 4, total_tokens: 4 },
    });
    expect(vectorsOf(body)[0]).toHaveLength(64);
    expect(answer.model).toMatch(/-embedding$/);
    expect(headers.get('x-svc-model')).toBe(answer.model);
    expect(svc).toMatchObject({ settlement_status: 'settled', payload: { job_kind: 'other' } });
    expectCommitted(text);
    const document = (await service.get<JsonObject>(`/receipt/${svc.task_id}`)).body;
    const jwks = (await service.get<JsonObject>('/.well-known/jwks.json')).body;
    expect(await verifyReceipt(document, jwks as never)).toMatchObject({ kind: 'valid' });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it.each<[string, JsonObject, number]>([
    ['a text', { input: 'One' }, 1],
    ['texts', { input: ['One', 'Two', 'Three'] }, 3],
    ['the tokens of a text', { input: [1, 2, 3] }, 1],
    ['lists of tokens', { input: [[1, 2], [3]] }, 2],
    [
      'as many texts as may be',
      { input: Array.from({ length: limits.embedding_inputs_max }, (_, n) => `${n}`) },
      2_048,
    ],
  ])('for %s: one vector each, in their order, as numbers and as base64 alike', async (_, input, count) => {
    const floats = await buy({ ...input, ...BETA, dimensions: 16 });
    expect(floats.body.data.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index));
    const base64 = await buy({ ...input, ...BETA, dimensions: 16, encoding_format: 'base64' });
    expect(vectorsOf(base64.body).map(text => fromBase64(String(text)))).toEqual(vectorsOf(floats.body));
    for (const { text } of [floats, base64]) expectCommitted(text);
  });

  it('the hub gets what was asked for and nothing else', async () => {
    const asked = { ...BETA, input: ['A fox'], dimensions: 32, encoding_format: 'base64' };
    await buy({
      ...asked,
      user: 'me',
      prompt_cache_key: 'me',
      prompt_cache_retention: '24h',
      intent_id: 'i',
      attempt_index: 1,
    });
    const heard = service.hubs[1].requests.at(-1);
    expect(heard).toMatchObject({ path: EMBEDDINGS, body: asked });
    expect(Object.keys(heard?.body as object).sort()).toEqual(Object.keys(asked).sort());
  });

  it('the default of the API is no member of what the hub gets: some refuse to be told it', async () => {
    await buy({ ...BETA, input: 'A fox', encoding_format: 'float' });
    expect(service.hubs[1].requests.at(-1)?.body).toEqual({ ...BETA, input: ['A fox'] });
  });

  it.each<['float' | 'base64', readonly (string | readonly number[])[]]>([
    ['float', [toBase64([0.5, -0.25]), toBase64([1, 2])]],
    [
      'base64',
      [
        [0.5, -0.25],
        [1, 2],
      ],
    ],
    ['float', [toBase64([0.5, -0.25]), [1, 2]]],
  ])('as %s, whatever the hub makes of that', async (encoding_format, said) => {
    hubSays(...said);
    const { body, text } = await buy({ ...BETA, input: ['a', 'b'], encoding_format });
    const numbers = [
      [0.5, -0.25],
      [1, 2],
    ];
    expect(vectorsOf(body)).toEqual(encoding_format === 'float' ? numbers : numbers.map(toBase64));
    expectCommitted(text);
  });

  it('numbers go out as the hub wrote them, to the last digit', async () => {
    const numbers = [0.0023064255, -1e-7, 5e-324, 0.1, 123456789, -0.009327292];
    hubSays(numbers);
    const { body, text } = await buy({ ...BETA, input: 'x' });
    expect(vectorsOf(body)).toEqual([numbers]);
    expect(text).toContain('[0.0023064255,-1e-7,5e-324,0.1,123456789,-0.009327292]');
    expectCommitted(text);
  });

  it.each<[string, unknown]>([
    [
      'out of order',
      [
        { index: 1, embedding: [2] },
        { index: 0, embedding: [1] },
      ],
    ],
    ['without an index for the first', [{ embedding: [1] }, { index: 1, embedding: [2] }]],
    ['without any index', [{ embedding: [1] }, { embedding: [2] }]],
  ])('where the hub gives them %s: in the order of the inputs', async (_, data) => {
    betaSays({ data });
    expect((await buy({ ...BETA, input: ['one', 'two'] })).body.data).toEqual([
      { object: 'embedding', index: 0, embedding: [1] },
      { object: 'embedding', index: 1, embedding: [2] },
    ]);
  });

  it.each<[string, Json | undefined, Json]>([
    ['nothing', undefined, null],
    ['an empty object', {}, null],
    ['no sum', { prompt_tokens: 5 }, { prompt_tokens: 5, total_tokens: 5 }],
  ])('usage where the hub counts %s', async (_, usage, said) => {
    betaSays({ data: [{ embedding: [1] }], usage });
    expect((await buy({ ...BETA, input: 'x' })).body.usage).toEqual(said);
  });

  it('of 300 kB: delivered whole, and once more to the same payment, byte for byte', async () => {
    const numbers = Array.from({ length: 1_024 }, (_, n) => Math.fround(Math.sin(n)));
    hubSays(...Array.from({ length: 20 }, () => numbers));
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, EMBEDDINGS);
    const input = Array.from({ length: 20 }, (_, n) => `${n}`);
    const send = () => service.post<Answer>(EMBEDDINGS, { ...BETA, input }, payment);
    const dataIn = (text: string) => text.slice(0, text.indexOf('"svc"'));
    const first = await send();
    expect(first.text.length).toBeGreaterThan(300_000);
    const again = await send();
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(dataIn(again.text) === dataIn(first.text)).toBe(true);
    expectCommitted(again.text);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('from the other hub where one fails; 502 where that is not wanted', async () => {
    service.hubs[0].behave({ kind: 'status', status: 200, body: { data: [] } });
    service.hubs[1].behave({ kind: 'answer' });
    const { body } = await buy({ input: 'Elsewhere' });
    expect(body.svc).toMatchObject({ hub: 'beta', model: 'beta-embedding' });
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const { status, payer } = await buy({ input: 'Nowhere', svc: { failover: false } });
    expect(status).toBe(502);
    expect(await service.transfersFrom(payer)).toEqual([]);
  });

  it('by a live key: no payment, and a receipt that names none', async () => {
    const heard = await service.post<Answer>(EMBEDDINGS, { input: 'By key' }, { 'X-API-Key': 'a-live-key' });
    expect(heard).toMatchObject({ status: 200, body: { svc: { waived_by: 'live_key', payment_ref: null } } });
  });

  it('where the answer was lost in a crash: the same payment has it made once more, free', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, EMBEDDINGS);
    const first = await service.post<Answer>(EMBEDDINGS, { ...BETA, input: 'Lost' }, payment);
    await service.query('update payment_claim set answer_box = null where task_id = $1', [first.body.svc.task_id]);
    const again = await service.post<Answer>(EMBEDDINGS, { ...BETA, input: 'Lost' }, payment);
    expect(again.body).toMatchObject({ data: first.body.data, svc: { settlement_status: 'idempotent_replay' } });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe('createEmbeddings on the graph', () => {
  const KEY = { 'X-API-Key': 'a-live-key' };

  it('200: the vectors, under whatever names and however they are selected', async () => {
    const { body } = await buy({ ...BETA, input: ['One', 'Two'] });
    const query = `mutation ($with: Boolean!) {
      list: createEmbeddings(input: { model: "beta-embedding", input: ["One", "Two"] }) {
        data { ...Of at: index __typename } usage { totalTokens } hub receipt { taskId } svc @include(if: $with)
      }
    }
    fragment Of on Embedding { vector: embedding object }`;
    for (const document of [query, query.replace('@include(if: $with)', '').replace('($with: Boolean!)', '')]) {
      const { data, errors } = await onGraph<{ list: JsonObject }>(service, document, { with: true }, KEY);
      expect(errors).toBeUndefined();
      expect(data?.list).toMatchObject({ hub: 'beta', usage: { totalTokens: 2 }, svc: { model: 'beta-embedding' } });
      expect(data?.list.data).toEqual(
        vectorsOf(body).map((vector, at) => ({ vector, object: 'embedding', at, __typename: 'Embedding' })),
      );
    }
  });

  it.each([
    ['under two names', 'data { one: embedding two: embedding }'],
    ['in two lists', 'one: data { embedding } two: data { embedding }'],
    ['by a fragment', 'data { one: embedding ...Again }', 'fragment Again on Embedding { two: embedding }'],
  ])(
    '400 for all vectors twice %s, whatever paid for them: an answer has the size of what was bought',
    async (_, selection, fragment = '') => {
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, EMBEDDINGS);
      expect((await service.post(EMBEDDINGS, { ...BETA, input: 'Twice' }, payment)).status).toBe(200);
      const query = `mutation { it: createEmbeddings(input: { model: "beta-embedding", input: ["Twice"] }) { ${selection} } } ${fragment}`;
      const { data, errors } = await onGraph(service, query, {}, payment);
      expect(data ?? null).toBeNull();
      expect(errors).toMatchObject([{ extensions: { code: 'query_too_costly', limit: 'cost' } }]);
    },
  );

  it('200 for tokens, as base64', async () => {
    const { body } = await buy({ ...BETA, input: [[1, 2], [3]], encoding_format: 'base64' });
    const query =
      'mutation { it: createEmbeddings(input: { model: "beta-embedding", inputTokens: [[1, 2], [3]], encodingFormat: "base64" }) { data { embedding } } }';
    const { data } = await onGraph<{ it: JsonObject }>(service, query, {}, KEY);
    expect(data?.it.data).toEqual(vectorsOf(body).map(embedding => ({ embedding })));
  });

  it.each([
    ['both', 'input: ["a"], inputTokens: [[1]]', 'inputTokens', 'input and inputTokens were both given'],
    ['neither', 'dimensions: 3', 'input', 'input or inputTokens is required.'],
  ])('400 with %s of a text and tokens', async (_, members, param, message) => {
    const query = `mutation { createEmbeddings(input: { ${members} }) { model } }`;
    const { errors } = await onGraph(service, query, {}, KEY);
    expect(errors).toMatchObject([
      { message: expect.stringContaining(message), extensions: { code: 'invalid_request', param } },
    ]);
  });

  it('the same payment has the same answer from REST and from the graph, charged once', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, EMBEDDINGS);
    const first = await service.post<Answer>(EMBEDDINGS, { ...BETA, input: 'Both ways' }, payment);
    const query =
      'mutation { it: createEmbeddings(input: { model: "beta-embedding", input: ["Both ways"] }) { data { embedding } svc } }';
    const again = await onGraph<{ it: { svc: ReceiptBody; data: object[] } }>(service, query, {}, payment);
    expect(again.data?.it).toMatchObject({
      data: first.body.data.map(({ embedding }) => ({ embedding })),
      svc: { task_id: first.body.svc.task_id, settlement_status: 'idempotent_replay' },
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

it('create_embeddings by MCP: the same vectors, structured and as text', async () => {
  const { body: bought } = await buy({ ...BETA, input: 'By tool' });
  const { body } = await sendMessage(service.url, toolCall('create_embeddings', { ...BETA, input: 'By tool' }), {
    'X-API-Key': 'a-live-key',
  });
  const result = body?.result as unknown as { structuredContent: Answer; content: { text: string }[] };
  expect(result.structuredContent.data).toEqual(bought.data);
  expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent);
});

describe(`POST ${EMBEDDINGS} 502, and nothing is charged for what are no vectors`, () => {
  const item = (embedding: unknown, index = 0) => ({ object: 'embedding', index, embedding });
  it.each<[string, string, unknown]>([
    ['something else', 'not_embeddings', { choices: [] }],
    ['vectors of two lengths', 'not_embeddings', { data: [item([1, 2, 3]), item([1, 2], 1)] }],
  ])('where the hubs answer with %s; the payment pays when it is sent again', async (_, reason, bad) => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, EMBEDDINGS);
    const body = { ...BETA, input: ['One', 'Two'], dimensions: 3 };
    betaSays(bad);
    const failed = await service.post(EMBEDDINGS, body, payment);
    expect(failed).toMatchObject({ status: 502, body: { charged: false, attempts: [{ hub: 'beta', reason }] } });
    expect(await service.transfersFrom(payer)).toEqual([]);
    service.hubs[1].behave({ kind: 'answer' });
    expect((await service.post(EMBEDDINGS, body, payment)).status).toBe(200);
  });
});

describe(`POST ${EMBEDDINGS} 413, and nothing is charged where the vectors are more than is passed on`, () => {
  const expectRefused = async (hub: 0 | 1) => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, EMBEDDINGS);
    const input = Array.from({ length: 256 }, (_, n) => `${n}`);
    const before = service.hubs[1 - hub]?.requests.length;
    const refused = await service.post(
      EMBEDDINGS,
      { input, model: service.hubs[hub].config.embedding_models?.[0] },
      payment,
    );
    expect(refused).toMatchObject({
      status: 413,
      body: {
        code: 'answer_too_large',
        error: { param: 'input' },
        charged: false,
        attempts: [{ reason: 'too_large' }],
        detail: expect.stringContaining('Send fewer inputs'),
      },
    });
    expect(refused.body).not.toHaveProperty('hub_error');
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(service.hubs[1 - hub]?.requests).toHaveLength(before ?? 0);
    expect(await service.transfersFrom(payer)).toEqual([]);
  };

  it('as numbers, of what the hub sent as base64', async () => {
    const vector = toBase64(Array.from({ length: 4_096 }, (_, n) => Math.fround(Math.sin(n))));
    hubSays(...Array.from({ length: 256 }, () => vector));
    await expectRefused(1);
  });

  it.each([
    ['alpha-1', 'The model alpha-1 is not offered for embeddings.'],
    ['nobody-1', 'No such model is offered. GET /v1/models lists the models.'],
  ])('400 for the model %s', async (model, detail) => {
    const { status, body } = await service.post(EMBEDDINGS, { model, input: 'x' }, { 'X-API-Key': 'a-live-key' });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: 'unknown_model', error: { param: 'model' }, detail },
    });
  });

  it.each<[string, 'float' | 'base64', number]>([
    ['as base64', 'base64', 1_536],
    ['as numbers', 'float', 4_096],
  ])('by what its request says already, %s: no hub is asked', async (_, encoding_format, dimensions) => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, EMBEDDINGS);
    const hubCalls = () => service.hubs.flatMap(({ requests }) => requests).length;
    const before = hubCalls();
    const input = Array.from({ length: limits.embedding_inputs_max }, (_, n) => `${n}`);
    const refused = await service.post(EMBEDDINGS, { ...BETA, input, encoding_format, dimensions }, payment);
    expect(refused).toMatchObject({
      status: 413,
      body: {
        code: 'answer_too_large',
        error: { param: 'input' },
        charged: false,
        detail: expect.stringContaining('Send fewer inputs'),
      },
    });
    expect(hubCalls()).toBe(before);
    expect(await service.transfersFrom(payer)).toEqual([]);
    expect((await service.post(EMBEDDINGS, { ...BETA, input: ['One'] }, payment)).status).toBe(200);
  });

  it('by more than is read of a hub', async () => {
    betaSays({ data: [{ embedding: 'x'.repeat(limits.embedding_hub_answer_bytes_max) }] });
    await expectRefused(1);
  });
});

it(`POST ${EMBEDDINGS} 400 with the hub's verdict on the request: uncharged, and no other hub is asked`, async () => {
  const message = "This model's maximum context length is 8192 tokens, however you requested 9000 tokens.";
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  for (const hub of service.hubs) hub.behave({ kind: 'status', status: 400, body: { error } });
  const hubCalls = () => service.hubs.flatMap(({ requests }) => requests).length;
  const before = hubCalls();
  const { status, body, payer } = await buy({ input: 'Too long' });
  expect([status, body]).toMatchObject([400, { code: 'hub_rejected_request', detail: message, charged: false }]);
  expect(hubCalls() - before).toBe(1);
  expect(await service.transfersFrom(payer)).toEqual([]);
});

testPaidDoor(() => service, {
  path: EMBEDDINGS,
  job_kind: 'other',
  body: (_, name) => ({ input: name }),
  wrong: [
    ['input', { input: '' }],
    ['input', { input: 7 }],
    ['input', { input: null }],
    ['input', { input: [] }],
    ['input.1', { input: ['One', ''] }],
    ['input.1', { input: ['One', 2] }],
    ['input.1', { input: [1, -2] }],
    ['input.1', { input: [1, 2.5] }],
    ['input.0', { input: [[]] }],
    ['input.1.0', { input: [[1], ['Two']] }],
    ['input', { input: Array.from({ length: limits.embedding_inputs_max + 1 }, () => 'x') }],
    ['input', { input: Array.from({ length: limits.embedding_tokens_max + 1 }, () => 1) }],
    ['model', { model: 'alpha-1' }],
    ['model', { model: 'nobody-1' }],
    ['encoding_format', { encoding_format: 'int8' }],
    ['dimensions', { dimensions: 0 }],
    ['dimensions', { dimensions: limits.embedding_dimensions_max + 1 }],
    ['provider', { provider: { order: ['a'] } }],
    ['service_tier', { service_tier: 'priority' }],
    ['stream', { stream: true }],
    ['stream_options', { stream_options: { include_usage: true } }],
    ['web_search_options', { web_search_options: {} }],
  ],
});
