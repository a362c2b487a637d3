import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ModelListAnswer } from '../../rest-compat/inference/answers.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { paidBy, sendMessage, toolCall } from '../harness/mcp-message.ts';
import { completion, type HubServer, openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

/* Members that a caller sends for a model reach the hub through every face. Members for this service do not. */

const RESPONSES = '/v1/responses';
const byKey = { 'X-API-Key': 'a-live-key' };

let service: Service;
let open: HubServer;
let narrow: HubServer;
let answer: (response: ServerResponse, hub: HubServer) => void;
const answering = (response: ServerResponse, hub: HubServer) => {
  const asked = hub.received.at(-1)?.body as JsonObject | undefined;
  if (asked?.stream !== true) return void response.writeHead(200).end(JSON.stringify(completion));
  const chunk = { choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
};

beforeAll(async () => {
  open = await openHubServer(response => answer(response, open));
  narrow = await openHubServer(response => answer(response, narrow));
  for (const hub of [open, narrow]) atEnd(() => hub[Symbol.asyncDispose]());
  const able = { audio_input_models: ['some/able'], file_input_models: ['some/able'] };
  const hubs = [
    {
      name: 'narrow',
      base_url: narrow.base_url,
      api_key: 'k',
      models: ['some/both', 'some/narrow'],
      forward: ['top_k'],
    },
    { name: 'open', base_url: open.base_url, api_key: 'k', models: ['some/open', 'some/both', 'some/able'], ...able },
  ];
  service = await openService({ HUBS: JSON.stringify(hubs) });
});
beforeEach(() => {
  answer = answering;
  for (const hub of [open, narrow]) hub.received.length = 0;
});

const lastHubBody = () => [...narrow.received, ...open.received].at(-1)?.body as JsonObject;
const OPEN = 'some/open';
const unknown = { top_k: 3, min_p: 0.1, temprature: 1, a_b: { cD: [null, { e_f: '\u0000' }] } };
const message = { role: 'user', content: 'Hello', weight: 2 };
/** Sends a request, whole or streamed, and reads the whole answer. */
async function sent(path: string, body: JsonObject, headers: Readonly<Record<string, string>>): Promise<number> {
  const answered = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  await answered.text();
  return answered.status;
}
const paid = async (path: string) => service.payment(await service.chain.newWallet(), path);

it('what a model takes beside text is in the list of models, in the words of its description', async () => {
  const { data } = ModelListAnswer.parse((await service.get('/v1/models')).body);
  expect(data.find(({ id }) => id === 'some/able')?.modality.input).toEqual(['text', 'audio', 'file']);
});

describe.each([
  ['whole', false],
  ['as a stream', true],
])('what nobody here knows reaches the hub, %s', (_, stream) => {
  const streamed = stream ? { stream, stream_options: { include_usage: true } } : {};
  const body = {
    model: OPEN,
    messages: [message],
    ...unknown,
    intent_id: 'i',
    attempt_index: 1,
    svc: { failover: false },
    user: 'me',
  };
  const expected = { model: OPEN, messages: [message], ...unknown, ...streamed };

  it('by POST /v1/chat/completions', async () => {
    expect(await sent(CHAT, { ...body, stream }, await paid(CHAT))).toBe(200);
    expect(lastHubBody()).toEqual(expected);
  });

  it('by POST /v1/responses, as the chat that it comes to', async () => {
    const input = [{ type: 'message', ...message }];
    const { messages: _messages, ...rest } = body;
    expect(await sent(RESPONSES, { ...rest, input, stream }, await paid(RESPONSES))).toBe(200);
    expect(lastHubBody()).toEqual(expected);
  });
});

describe('by every face', () => {
  const { weight: _, ...plain } = message;
  const input = { model: OPEN, messages: [{ ...plain, extra: { weight: 2 } }], extra: unknown, intentId: 'i' };
  const mutation = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { svc } }';
  const body = { model: OPEN, messages: [message], ...unknown, intent_id: 'i' };

  it('GraphQL’s extra, and a tool’s arguments, are the same request as REST’s members: one payment buys once', async () => {
    const payment = await paid(CHAT);
    const bought = await service.post<{ svc: { task_id: string } }>(CHAT, body, payment);
    const first = open.received.at(-1)?.body;
    const again = await onGraph<{ createChatCompletion: { svc: { task_id: string } } }>(
      service,
      mutation,
      { input },
      payment,
    );
    expect(again.data?.createChatCompletion.svc.task_id).toBe(bought.body.svc.task_id);
    const tool = await sendMessage(
      service.url,
      toolCall('chat_completions', body, paidBy(payment['PAYMENT-SIGNATURE'])),
    );
    expect(tool.body?.result?.structuredContent.svc).toMatchObject({ task_id: bought.body.svc.task_id });
    expect(open.received).toHaveLength(1);
    // The same request by the graph and by MCP gives the hub the same bytes.
    await onGraph(service, mutation, { input }, byKey);
    await sendMessage(service.url, toolCall('chat_completions', { ...body, extra: null }), byKey);
    expect(open.received.map(each => each.body)).toEqual([first, first, first]);
  });

  it('a response’s, too', async () => {
    const create = 'mutation ($input: ResponseInput!) { createResponse(input: $input) { svc } }';
    const asked = { model: OPEN, input: [{ ...plain, extra: { weight: 2 } }], extra: unknown };
    expect((await onGraph(service, create, { input: asked }, byKey)).errors).toBeUndefined();
    expect(lastHubBody()).toEqual({ model: OPEN, messages: [message], ...unknown });
  });

  it('32 levels pass on the graph as well', async () => {
    const nested = (levels: number): JsonObject => (levels === 1 ? {} : { a: nested(levels - 1) });
    const deep = { ...input, messages: [{ ...plain, extra: { deep: nested(32) } }] };
    expect((await onGraph(service, mutation, { input: deep }, byKey)).errors).toBeUndefined();
    expect(lastHubBody().messages).toEqual([{ ...plain, deep: nested(32) }]);
  });

  it('400 with the name of a member that stands in extra and beside it, or that no hub is told', async () => {
    const refusing: readonly JsonObject[] = [{ temperature: 1 }, { api_base: 'https://a.example' }];
    for (const extra of refusing) {
      const refused = await onGraph(service, mutation, { input: { ...input, extra } }, byKey);
      expect(refused.refused).toMatchObject({ code: 'invalid_request', param: `extra.${Object.keys(extra)[0]}` });
    }
    expect(open.received).toEqual([]);
  });
});

describe('refused, and nothing is charged', () => {
  it.each<[string, JsonObject]>([
    ['provider', { provider: { order: ['a'] } }],
    ['Provider', { Provider: { order: ['a'] } }],
    ['extra-body', { 'extra-body': { a: 1 } }],
    ['fallbacks', { fallbacks: ['other/model'] }],
    ['api_key', { api_key: 'sk-other' }],
    ['session', { session: 'secret' }],
    ['service_tier', { service_tier: 'priority' }],
  ])('%s', async (param, members) => {
    const payment = await paid(CHAT);
    const refused = await service.post(CHAT, { ...ask(), ...members, model: OPEN }, payment);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
  });

  it('__proto__, and a member that is named twice', async () => {
    const text = (members: string) => `{"model":"${OPEN}","messages":[{"role":"user","content":"x"}],${members}}`;
    for (const [param, members] of [
      ['__proto__', '"__proto__":{"a":1}'],
      ['top_k', '"top_k":1,"top_k":2'],
    ]) {
      const refused = await service.knock('POST', CHAT, { body: text(members as string), headers: byKey });
      expect(refused).toMatchObject({ status: 400, body: { error: { param } } });
    }
    expect(open.received).toEqual([]);
  });
});

describe('a hub that names what it forwards', () => {
  it('is asked for those members, and another for all others', async () => {
    const model = 'some/both';
    expect((await service.post(CHAT, { ...ask(), model, top_k: 3 }, byKey)).status).toBe(200);
    expect((await service.post(CHAT, { ...ask(), model, min_p: 0.1, svc: { failover: false } }, byKey)).status).toBe(
      200,
    );
    expect(open.received.map(({ body }) => (body as JsonObject).min_p)).toContain(0.1);
    expect(narrow.received.every(({ body }) => !('min_p' in (body as JsonObject)))).toBe(true);
  });

  it.each<[string, JsonObject]>([
    ['min_p', { min_p: 0.1 }],
    ['messages.0.weight', { messages: [message] }],
    ['messages.0.content.0.mark', { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', mark: 1 }] }] }],
  ])('400 with %s where no other has the model: nothing is left out in silence', async (param, members) => {
    const refused = await service.post(CHAT, { ...ask(), ...members, model: 'some/narrow' }, byKey);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    expect(narrow.received).toEqual([]);
  });
});

describe('what a hub says of a member', () => {
  const refusing = (param: string) => (response: ServerResponse) =>
    void response.writeHead(400).end(
      JSON.stringify({
        error: {
          message: `Unknown parameter: '${param}'.`,
          type: 'invalid_request_error',
          param,
          code: 'unknown_parameter',
        },
      }),
    );

  it.each([false, true])(
    'is the caller’s where it was forwarded, the operator’s where it was added (stream: %s)',
    async stream => {
      const asked = { ...ask(), model: OPEN, top_k: 3, stream };
      answer = refusing('top_k');
      const refused = await service.post(CHAT, asked, await paid(CHAT));
      expect(refused).toMatchObject({ status: 400, body: { code: 'hub_rejected_request', error: { param: 'top_k' } } });
      answer = refusing('model');
      expect((await service.post(CHAT, asked, await paid(CHAT))).status).toBe(502);
    },
  );
});

describe('histories of real clients', () => {
  const sound = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
  const file = { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' } };
  const text = { type: 'text', text: 'What is this?' };

  it('names, thoughts and parts reach the hub as they came', async () => {
    const thoughts = {
      reasoning_content: 'a',
      reasoning: 'b',
      reasoning_details: [{ type: 'reasoning.text', text: 'c_d' }],
    };
    const messages: readonly JsonObject[] = [
      { role: 'developer', content: 'Be short.', name: 'Op' },
      { role: 'user', content: [text, sound, file], name: 'Ann' },
      { role: 'assistant', content: null, ...thoughts },
      { role: 'user', content: 'Go on.' },
    ];
    for (const stream of [false, true]) {
      expect(await sent(CHAT, { model: 'some/able', messages, stream }, byKey)).toBe(200);
      expect(lastHubBody().messages).toEqual(messages);
    }
  });

  it('by POST /v1/responses: sound and files as input parts', async () => {
    const content = [
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_audio', input_audio: sound.input_audio },
      { type: 'input_file', ...file.file, detail: 'low' },
    ];
    expect(
      (await service.post(RESPONSES, { model: 'some/able', input: [{ role: 'user', content }] }, byKey)).status,
    ).toBe(200);
    const detailed = { ...file, file: { ...file.file, detail: 'low' } };
    expect(lastHubBody().messages).toEqual([{ role: 'user', content: [text, sound, detailed] }]);
  });

  it.each([
    ['messages.0.content.1', [text, sound]],
    ['messages.0.content.0', [file]],
    ['messages.0.content.0.file.file_id', [{ type: 'file', file: { ...file.file, file_id: 'file-1' } }]],
  ])('400 with %s where the model takes none', async (param, content) => {
    const refused = await service.post(CHAT, { model: OPEN, messages: [{ role: 'user', content }] }, byKey);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
  });
});

describe('a payment of the version before, which left such members out', () => {
  const before = { ...ask(), model: OPEN };
  const whole = { ...before, top_k: 3 };
  type Sold = { readonly svc: { readonly task_id: string } };
  /** Changes a row to what the previous version writes, which does not have the column `whole_task_id`. `ago` is the age of the claim. */
  const asBefore = (table: string, task_id: string, ago = '0 hours') =>
    service.query(
      `update ${table} set whole_task_id = null${table === 'payment_claim' ? `, moved_at = now() - $2::interval` : ''}
       where task_id = $1`,
      table === 'payment_claim' ? [task_id, ago] : [task_id],
    );
  const bought = async (payment: Readonly<Record<string, string>>) => {
    const { body } = await service.post<Sold>(CHAT, before, payment);
    return body.svc.task_id;
  };
  const CONFLICT = { status: 409, body: { code: 'claim_already_settled' } };

  it('is delivered again for the request with them, for 24 hours, whenever a process of that version claimed it', async () => {
    const payment = await paid(CHAT);
    const task_id = await bought(payment);
    await asBefore('payment_claim', task_id);
    const again = await service.post<Sold>(CHAT, whole, payment);
    expect(again).toMatchObject({ status: 200, body: { svc: { task_id } } });
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    // A different request gets no answer for this payment.
    expect(await service.post(CHAT, { ...whole, temperature: 1 }, payment)).toMatchObject(CONFLICT);
    await asBefore('payment_claim', task_id, '25 hours');
    expect(await service.post(CHAT, whole, payment)).toMatchObject(CONFLICT);
    expect(open.received).toHaveLength(1);
  });

  it('also where that version has claimed again what a process of this one let go of', async () => {
    const payment = await paid(CHAT);
    const task_id = await bought(payment);
    await service.query(`update payment_claim set whole_task_id = 'an earlier task' where task_id = $1`, [task_id]);
    expect(await service.post(CHAT, whole, payment)).toMatchObject({ status: 200, body: { svc: { task_id } } });
  });

  it.each([false, true])(
    'brings an answer that it is owed to what was bought, and to nothing else (stream: %s)',
    async stream => {
      const payment = await paid(CHAT);
      await sent(CHAT, { ...before, stream }, payment);
      const [first] = open.received.splice(0);
      const [claim] = await service.query<{ task_id: string }>(
        'select task_id from payment_claim order by claimed_at desc limit 1',
      );
      await asBefore('payment_claim', claim?.task_id ?? '');
      await service.query('update payment_claim set answer_box = null where task_id = $1', [claim?.task_id]);
      expect(await sent(CHAT, { ...whole, stream }, payment)).toBe(200);
      expect(open.received.map(({ body }) => body)).toEqual([first?.body]);
    },
  );

  it('stays that after it was claimed again by this version', async () => {
    const payment = await paid(CHAT);
    answer = response => void response.writeHead(500).end();
    expect((await service.post(CHAT, before, payment)).status).toBe(502);
    // Sets the state after a process's death: the transaction may have been sent.
    await service.query(
      `update payment_claim set whole_task_id = null, from_block = 1 where claimed_at = (select max(claimed_at) from payment_claim)`,
    );
    answer = answering;
    open.received.length = 0;
    const { body } = await service.post<Sold>(CHAT, whole, payment);
    expect(lastHubBody()).not.toHaveProperty('top_k');
    for (const same of [whole, before])
      expect(await service.post(CHAT, same, payment)).toMatchObject({
        status: 200,
        body: { svc: { task_id: body.svc.task_id } },
      });
    expect(open.received).toHaveLength(1);
  });

  it('one that this version has claimed is of its request alone: 409 with a member more, and with one less', async () => {
    for (const [first, second] of [
      [before, whole],
      [whole, before],
      [whole, { ...before, top_k: 4 }],
    ]) {
      const payment = await paid(CHAT);
      expect((await service.post(CHAT, first, payment)).status).toBe(200);
      expect(await service.post(CHAT, second, payment)).toMatchObject(CONFLICT);
    }
  });

  it('one that was let go of before, and claimed since for less, is not of more', async () => {
    const payment = await paid(CHAT);
    answer = response => void response.writeHead(500).end();
    expect((await service.post(CHAT, before, payment)).status).toBe(502);
    await service.query(
      `update payment_claim set whole_task_id = null where claimed_at = (select max(claimed_at) from payment_claim)`,
    );
    answer = answering;
    expect((await service.post(CHAT, before, payment)).status).toBe(200);
    expect(await service.post(CHAT, whole, payment)).toMatchObject(CONFLICT);
  });

  it('a call by key under its Idempotency-Key likewise', async () => {
    const headers = { ...byKey, 'Idempotency-Key': 'before-the-upgrade' };
    const task_id = await bought(headers);
    expect(await service.post(CHAT, whole, headers)).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_conflict' },
    });
    await asBefore('idempotent_call', task_id);
    expect(await service.post(CHAT, whole, headers)).toMatchObject({ status: 200, body: { svc: { task_id } } });
  });
});
