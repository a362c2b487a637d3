import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { ResponseAnswer } from '../../rest-compat/inference/answers.ts';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { CHAT, openService, type ReceiptBody, type Service } from '../harness/doors/open-service.ts';
import { testPaidDoor } from '../harness/doors/paid-door.ts';
import { answerWith, type HubServer, openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

const RESPONSES = '/v1/responses';
type Answer = Omit<z.infer<typeof ResponseAnswer>, 'svc'> & { readonly svc: ReceiptBody };

const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const replying = (message: JsonObject, finish_reason = 'stop') =>
  answerWith({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }], usage });
const good = replying({ content: 'Hello.' });

let service: Service;
let hub: HubServer;
let reply: (response: ServerResponse) => void = good;
beforeAll(async () => {
  hub = await openHubServer(response => reply(response));
  atEnd(() => hub[Symbol.asyncDispose]());
  const { base_url } = hub;
  service = await openService({
    HUBS: JSON.stringify([{ name: 'one', base_url, api_key: 'key', models: ['one-model'] }]),
  });
});
beforeEach(() => {
  reply = good;
});

async function bought(body: JsonObject) {
  const payer = await service.chain.newWallet();
  const heard = await service.knock<Answer>('POST', RESPONSES, { body, by: payingFetch(payer) });
  return { ...heard, payer };
}

describe(`POST ${RESPONSES} 200`, () => {
  it('on a text: the answer in OpenAI’s form, committed to by its receipt, one transfer', async () => {
    const { status, body, payer } = await bought({ input: 'Hello' });
    expect(status).toBe(200);
    const { task_id } = body.svc;
    const content = [{ type: 'output_text', text: 'Hello.', annotations: [] }];
    expect(body).toMatchObject({
      id: `resp_${task_id}`,
      object: 'response',
      model: 'one-model',
      status: 'completed',
      error: null,
      output: [{ id: `msg_${task_id}`, type: 'message', role: 'assistant', status: 'completed', content }],
      output_text: 'Hello.',
      usage: { ...usage, input_tokens: 3, output_tokens: 1 },
      svc: { hub: 'one', proof_outcome: 'settled', payer_wallet: payer.address },
    });
    expect(body.svc).toMatchObject({
      payload: { fulfillment: { output_commitment: { hash: canonicalHash(body.output as never) } } },
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('on messages with every field: the hub gets its own words for them', async () => {
    const said = [{ id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }];
    const input = [{ role: 'system', content: 'Be short.' }, ...said, { role: 'user', content: 'Go on.' }];
    const members = { model: 'one-model', max_output_tokens: 7, temperature: 1.5, stream: false, tools: [] };
    const { status } = await bought({ input, ...members, previous_response_id: null, unheard_of: 1 });
    expect(status).toBe(200);
    expect(hub.received.at(-1)?.body).toEqual({
      model: 'one-model',
      max_tokens: 7,
      temperature: 1.5,
      unheard_of: 1,
      messages: [input[0], { role: 'assistant', content: 'Hi' }, input[2]],
    });
  });

  it('with function_call where the hub calls something', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"q":1}' } };
    reply = replying({ content: null, tool_calls: [call] }, 'tool_calls');
    const { body } = await bought({ input: 'Look it up' });
    expect(body).toMatchObject({ status: 'completed', output_text: '' });
    const item = { type: 'function_call', status: 'completed', call_id: 'call_1', name: 'look_up' };
    expect(body.output).toEqual([{ ...item, id: expect.any(String), arguments: '{"q":1}' }]);
  });

  it.each([
    ['content_filter', 'content_filter', { content: 'So far' }, 'So far'],
    ['content_filter, and nothing is said', 'content_filter', { content: null }, ''],
    ['length, and nothing is said', 'length', { content: '' }, ''],
    ['length, with something said', 'length', { content: 'So far' }, 'So far'],
    ['length, and only thought', 'length', { content: null, reasoning_content: 'Hm' }, ''],
  ])('incomplete where the hub ends with %s: delivered and charged', async (_, finish_reason, message, output_text) => {
    reply = replying(message, finish_reason);
    const { body, payer } = await bought({ input: 'Hello' });
    const reason = finish_reason === 'length' ? 'max_output_tokens' : finish_reason;
    expect(body).toMatchObject({ status: 'incomplete', error: null, incomplete_details: { reason }, output_text });
    expect(body.output.every(item => item.status === 'incomplete')).toBe(true);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe(`POST ${RESPONSES} 502, and nothing is charged for no answer`, () => {
  it.each<[string, (response: ServerResponse) => void, string]>([
    ['an error object', answerWith({ error: { message: 'overloaded' } }), 'not_a_completion'],
    ['neither text nor call', replying({ content: null }), 'not_a_completion'],
    ['a status', response => void response.writeHead(500).end(), 'status_500'],
  ])('where the hub answers with %s; the payment pays when it is sent again', async (_, bad, reason) => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, RESPONSES);
    reply = bad;
    const failed = await service.post(RESPONSES, { input: 'Hello' }, payment);
    expect(failed).toMatchObject({ status: 502, body: { charged: false, attempts: [{ hub: 'one', reason }] } });
    expect(await service.transfersFrom(payer)).toEqual([]);
    reply = good;
    expect((await service.post(RESPONSES, { input: 'Hello' }, payment)).status).toBe(200);
  });
});

it(`POST ${RESPONSES} 409 by a payment that has bought a chat`, async () => {
  const payment = await service.payment(await service.chain.newWallet(), CHAT);
  await service.post(CHAT, { messages: [{ role: 'user', content: 'Hello' }] }, payment);
  const heard = await service.post(RESPONSES, { input: 'Hello' }, payment);
  expect(heard).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
});

testPaidDoor(() => service, {
  path: RESPONSES,
  job_kind: 'completions',
  body: (_, name) => ({ input: name }),
  wrong: [
    ['input', { input: 7 }],
    ['input', { input: [] }],
    ['input.0.role', { input: [{ role: 'tool', content: 'x' }] }],
    ['input.0.type', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    [
      'input.0.content.0.file_id',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://a/', file_id: 'f' }] }] },
    ],
    [
      'input.0.content.0',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://a.example/' }] }] },
    ],
    ['model', { model: 'nobody-1' }],
    ['max_output_tokens', { max_output_tokens: 0 }],
    ['temperature', { temperature: 2.5 }],
    ['stream', { stream: 'yes' }],
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['background', { background: true }],
    ['instructions', { instructions: 7 }],
    ['tools.0.type', { tools: [{ type: 'web_search' }] }],
    ['tools.0.name', { tools: [{ type: 'function' }] }],
    ['tool_choice', { tool_choice: { type: 'function', name: 'f' } }],
    ['text.format.type', { text: { format: { type: 'yaml' } } }],
    ['text.format.name', { text: { format: { type: 'json_schema', schema: {} } } }],
  ],
});
