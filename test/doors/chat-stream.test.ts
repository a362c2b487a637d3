import { decodePaymentResponseHeader } from '@x402/core/http';
import { createClient } from 'graphql-ws';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { payingFetch } from '../harness/buyer.ts';
import { askToStream, type Chunk, listen, textOf } from '../harness/doors/listen.ts';
import { CHAT, resetHubsBeforeEach, type Service, sharedService } from '../harness/doors/open-service.ts';
import { hubEcho, testStreamDoor } from '../harness/doors/stream-door.ts';
import { withoutReferences } from '../harness/openapi.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

describe('POST /v1/chat/completions with stream: true, paid', () => {
  it('by the official openai client: chunks, an end, and in the last chunk a receipt that verifies', async () => {
    const payer = await service.chain.newWallet();
    const client = new OpenAI({
      baseURL: `${service.url}/v1`,
      apiKey: 'none',
      maxRetries: 0,
      fetch: payingFetch(payer),
    });
    const stream = await client.chat.completions.create({
      model: 'svc/auto',
      messages: [{ role: 'user', content: 'Who are you?' }],
      stream: true,
    });
    const chunks: Chunk[] = [];
    for await (const chunk of stream) chunks.push(chunk as unknown as Chunk);
    expect(chunks.length).toBeGreaterThan(4);
    expect(chunks.map(textOf).join('')).toBe(hubEcho('Who are you?'));
    expect(chunks[0]?.choices).toEqual([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]);

    const last = chunks.at(-1);
    const svc = last?.svc;
    expect(last?.object).toBe('chat.completion.chunk');
    // Many clients read choices[0] of every chunk, so only a caller that requests usage gets a chunk without it.
    expect(chunks.map(({ choices }) => choices.length)).toEqual(chunks.map(() => 1));
    expect(last?.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop' }]);
    expect(chunks.filter(chunk => chunk.svc)).toHaveLength(1);
    for (const { id, created, model } of chunks)
      expect([id, created, model]).toEqual([last?.id, last?.created, 'alpha-1']);

    const { body: jwks } = await service.get<JSONWebKeySet & Record<string, never>>('/.well-known/jwks.json');
    const { payload } = await jwtVerify(svc?.issuer_signature.jws ?? '', createLocalJWKSet(jwks), {
      algorithms: ['ES256'],
    });
    expect(payload).toMatchObject({ jti: svc?.task_id, payload_hash: svc?.payload_hash });
    expect(verifyReceipt(svc as never, jwks)).toMatchObject({ kind: 'valid' });
    expect(last?.id).toBe(`chatcmpl-${svc?.task_id}`);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('its headers say at the first byte all that is known by then', async () => {
    const payer = await service.chain.newWallet();
    const stream = await listen(service, askToStream('Headers'), { by: payingFetch(payer) });
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.headers.get('cache-control')).toBe('no-store');
    expect(stream.headers.get('x-accel-buffering')).toBe('no');
    const { svc, ends_well } = await stream.rest();
    expect(ends_well).toBe(true);
    for (const name of ['task_id', 'verify_url', 'payment_ref', 'model', 'hub', 'amount'])
      expect(stream.headers.get(`x-svc-${name.replaceAll('_', '-')}`)).toBe(svc?.[name]);
    expect(stream.headers.get('x-svc-settlement-status')).toBe('settled');
    expect(stream.headers.get('x-svc-request-salt')).toMatch(/^[0-9a-f]{32}$/);
    expect(decodePaymentResponseHeader(stream.headers.get('PAYMENT-RESPONSE') ?? '')).toMatchObject({
      success: true,
      transaction: svc?.payment_ref.replace('base:', ''),
      payer: payer.address,
    });
    expect(await service.get(`/receipt/${svc?.task_id}`)).toMatchObject({ status: 200 });
    expect(svc).toMatchObject({
      settlement_status: 'settled',
      payload: { fulfillment: { output_commitment: { status: 'committed', kind: 'sha256' } } },
    });
  });

  it.each<[string, object, boolean]>([
    ['without stream_options', {}, false],
    ['with null', { stream_options: null }, false],
    ['with include_usage: false', { stream_options: { include_usage: false } }, false],
    ['with include_usage: true', { stream_options: { include_usage: true } }, true],
  ])('usage %s', async (name, options, asked) => {
    const payer = await service.chain.newWallet();
    const stream = await listen(service, askToStream(name, { ...options }), { by: payingFetch(payer) });
    const { chunks } = await stream.rest();
    const last = chunks.at(-1);
    if (asked) {
      for (const chunk of chunks.slice(0, -1)) expect(chunk.usage).toBeNull();
      expect(last).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } });
      expect(chunks.at(-2)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop' }]);
    } else {
      for (const chunk of chunks) expect(chunk).not.toHaveProperty('usage');
      expect(last?.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop' }]);
    }
    expect(last?.svc).toBeDefined();
    // The hub is asked for its token count, regardless of the caller's options.
    expect(service.hubs[0].requests.at(-1)?.body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('lands on the book as any other call, and its row commits to its output', async () => {
    const { account, agent_id, session } = await service.newAgent();
    const stream = await listen(service, askToStream('Booked'), { by: payingFetch(account) });
    const { svc } = await stream.rest();
    const { body } = await service.get<{ entries: object[] }>(`/v1/agents/${agent_id}/book`, {
      'X-SVC-Session': session,
    });
    expect(body.entries).toContainEqual(
      expect.objectContaining({
        task_id: svc?.task_id,
        evidence: 'collected',
        route: { hub: 'alpha', model: 'alpha-1', answered_model: 'alpha-1' },
        fulfillment: expect.objectContaining({ output_commitment: expect.objectContaining({ status: 'committed' }) }),
      }),
    );
  });
});

testStreamDoor(() => service, CHAT);

describe('subscription chatCompletionStream', () => {
  const query = 'subscription { chatCompletionStream(input: { messages: [{ role: "user", content: "Hi" }] }) { id } }';

  it('is refused over a socket, which has no headers to pay with', async () => {
    const client = createClient({
      url: `${service.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    onTestFinished(() => void client.dispose());
    const told = client.iterate({ query }).next();
    await expect(told).rejects.toMatchObject([{ extensions: { code: 'invalid_request' } }]);
  });

  it('is refused by POST /graphql, paid or not: its answer could not be streamed', async () => {
    const payer = await service.chain.newWallet();
    const heard = await service.post<{ errors: object[] }>('/graphql', { query }, await service.payment(payer, CHAT));
    expect(heard.body.errors).toMatchObject([{ extensions: { code: 'invalid_request' } }]);
    expect(await service.claimsOf(payer)).toEqual([]);
  });
});

interface Described {
  readonly paths: Readonly<Record<string, { readonly post: { readonly responses: Record<string, object> } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

it('OpenAPI names both forms of the answer', async () => {
  const { paths, components } = withoutReferences((await service.get<Described>('/openapi.json')).body);
  const ref = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } });
  expect(paths[CHAT]?.post.responses['200']).toMatchObject({
    content: {
      'application/json': ref('ChatCompletion'),
      'text/event-stream': {
        schema: { anyOf: [ref('ChatCompletionChunk').schema, ref('ChatCompletionFault').schema] },
      },
    },
  });
  expect(components.schemas).toMatchObject({
    ChatCompletion: { properties: { svc: expect.anything() } },
    ChatCompletionChunk: { properties: { object: { const: 'chat.completion.chunk' } } },
  });
});
