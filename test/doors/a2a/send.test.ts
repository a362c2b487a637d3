import type { Task } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import {
  A2A,
  agentAt,
  dataPart,
  message,
  type Rpc,
  rawMessage,
  rpc,
  sendRequest,
  textOf,
  textPart,
} from '../../harness/a2a/agent.ts';
import { payingFetch } from '../../harness/buyer.ts';
import { resetHubsBeforeEach, type Service, sharedService } from '../../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const KEY = { 'X-API-Key': 'a-live-key' };

describe('SendMessage', () => {
  it('a task with its answer and its receipt, paid for by the official clients of A2A and x402', async () => {
    const payer = await service.chain.newWallet();
    const agent = await agentAt(service, payingFetch(payer));
    const task = (await agent.sendMessage(sendRequest(message('Hello')))) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(textOf(task)).toContain('"Hello"');
    const { svc } = task.metadata as { svc: JsonObject };
    expect(svc).toMatchObject({ task_id: task.id, payer_wallet: payer.address, proof_outcome: 'settled' });
    expect(task.status?.message?.metadata).toMatchObject({
      'x402.payment.status': 'payment-completed',
      'x402.payment.receipts': [{ success: true, network: 'eip155:8453', payer: payer.address }],
    });
    expect(task.contextId).toBe(task.id);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
    const receipt = await service.get(`/receipt/${task.id}.json`);
    expect((receipt.body.issuer_signature as JsonObject).jws).toBe((svc.issuer_signature as JsonObject).jws);
  });

  it('402 with PAYMENT-REQUIRED and an error of JSON-RPC to whoever pays nothing, valid or not', async () => {
    for (const params of [rawMessage('Hello'), {}, { message: 7 }]) {
      const { status, headers, body } = await rpc(service, 'SendMessage', params as JsonObject);
      expect(status).toBe(402);
      expect(decodePaymentRequiredHeader(headers.get('PAYMENT-REQUIRED') ?? '').accepts).not.toEqual([]);
      expect(body).toMatchObject({
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32042, data: [{ reason: 'PAYMENT_REQUIRED' }, {}] },
      });
    }
  });

  it('the rest of a chat request comes as data, and its context is the intent', async () => {
    const agent = await agentAt(service);
    const parts = [
      dataPart({ model: 'beta-1', messages: [{ role: 'system', content: 'Be brief.' }] }),
      textPart('Who?'),
    ];
    const asked = message('', { parts, contextId: 'a-bill' });
    const task = (await agent.sendMessage(sendRequest(asked), { serviceParameters: KEY })) as Task;
    expect(task.contextId).toBe('a-bill');
    expect(task.metadata).toMatchObject({
      svc: { payload: { model: 'beta-1', intent_id: 'a-bill', waived_by: 'live_key' } },
    });
    expect(task.status?.message).toBeUndefined();
  });

  it('the same message by key is done once, another of the same id is another', async () => {
    const params = rawMessage('Once');
    const [first, again] = [
      await rpc(service, 'SendMessage', params, KEY),
      await rpc(service, 'SendMessage', params, KEY),
    ];
    const idOf = ({ body }: { body: Rpc }) => (body.result.task as JsonObject).id;
    expect(idOf(again)).toBe(idOf(first));
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    const { message: told } = params as { message: JsonObject };
    const other = await rpc(service, 'SendMessage', { message: { ...told, parts: [{ text: 'Twice' }] } }, KEY);
    expect(idOf(other)).not.toBe(idOf(first));
  });

  it.each<[string, JsonObject, number, string]>([
    ['no message', {}, -32602, 'message'],
    ['no parts', rawMessage('', { parts: [] }), -32602, 'message.parts'],
    ['a role that is none', rawMessage('Hello', { role: 'user' }), -32602, 'message.role'],
    ['no messageId', { message: { role: 'ROLE_USER', parts: [{ text: 'Hello' }] } }, -32602, 'message.messageId'],
    ['a part that is none', rawMessage('', { parts: [{}] }), -32602, 'message.parts.0'],
    ['a part of two', rawMessage('', { parts: [{ text: 'Sum', data: { seed: 1 } }] }), -32602, 'message.parts.0'],
    ['a context that is too long', rawMessage('Hello', { contextId: 'x'.repeat(200) }), -32602, 'message.contextId'],
    [
      'a temperature that is none',
      rawMessage('', { parts: [{ data: { temperature: 9 } }, { text: 'Hello' }] }),
      -32602,
      'temperature',
    ],
    [
      'a model that nobody has',
      rawMessage('', { parts: [{ data: { model: 'nobody-1' } }, { text: 'Hello' }] }),
      -32602,
      'model',
    ],
  ])('invalid params of %s, naming the member', async (_, params, code, field) => {
    const { status, body } = await rpc(service, 'SendMessage', params, KEY);
    expect({ status, code: body.error.code }).toEqual({ status: 200, code });
    expect(JSON.stringify(body.error.data)).toContain(`"field":"${field}"`);
  });

  it.each<[string, JsonObject]>([
    ['a file', rawMessage('', { parts: [{ url: 'https://a.example/b.png', mediaType: 'image/png' }] })],
    ['bytes', rawMessage('', { parts: [{ raw: 'AAAA' }] })],
    ['a list as data', rawMessage('', { parts: [{ data: [1] }] })],
    ['data that is no chat request', rawMessage('', { parts: [{ text: 'Sum' }, { data: { orders: [1, 2, 3] } }] })],
    ['an answer as an image', { ...rawMessage('Hello'), configuration: { acceptedOutputModes: ['image/png'] } }],
  ])('-32005 on %s', async (_, params) => {
    expect((await rpc(service, 'SendMessage', params, KEY)).body.error.code).toBe(-32005);
  });

  it('-32004 on a message that refers to other tasks, which no model would be told of; none are no reference', async () => {
    const refused = await rpc(service, 'SendMessage', rawMessage('Go on', { referenceTaskIds: ['task_x'] }), KEY);
    expect(refused.body.error).toMatchObject({
      code: -32004,
      message: expect.stringContaining('referenceTaskIds is not supported'),
      data: [{}, { fieldViolations: [{ field: 'message.referenceTaskIds' }] }],
    });
    expect(
      (await rpc(service, 'SendMessage', rawMessage('Alone', { referenceTaskIds: [] }), KEY)).body.result,
    ).toBeDefined();
  });

  it('-32003 on a push notification that comes with it', async () => {
    const configuration = { taskPushNotificationConfig: { url: 'https://a.example' } };
    expect((await rpc(service, 'SendMessage', { ...rawMessage('Hello'), configuration }, KEY)).body.error.code).toBe(
      -32003,
    );
  });

  it('-32001 on a task that nobody has, -32004 on one that has come to its end', async () => {
    const done = (await rpc<{ task: { id: string } }>(service, 'SendMessage', rawMessage('Hello'), KEY)).body.result
      .task;
    const goOn = (taskId: string) => rpc(service, 'SendMessage', rawMessage('More', { taskId }), KEY);
    expect((await goOn('nobodys')).body.error.code).toBe(-32001);
    expect((await goOn(done.id)).body.error.code).toBe(-32004);
  });

  it('502 where every hub fails: nothing is charged, and the payment stays usable', async () => {
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, A2A);
    const failed = await rpc(service, 'SendMessage', rawMessage('Hello'), payment);
    expect(failed.status).toBe(502);
    expect(failed.body.error).toMatchObject({
      code: -32062,
      data: [{ reason: 'HUB_FAILED' }, { value: { charged: false } }],
    });
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect((await rpc(service, 'SendMessage', rawMessage('Hello'), payment)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('403 of a wrong session, before any charge', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, A2A);
    const shut = await rpc(service, 'SendMessage', rawMessage('Hello'), { ...payment, 'X-SVC-Session': 'nobodys' });
    expect(shut).toMatchObject({ status: 403, body: { error: { code: -32043, data: [{ reason: 'FORBIDDEN' }, {}] } } });
    expect(await service.transfersFrom(payer)).toHaveLength(0);
  });
});

describe('SendStreamingMessage', () => {
  it('a task, its answer piece by piece, and its end with the receipt, paid for by the official clients', async () => {
    const payer = await service.chain.newWallet();
    const agent = await agentAt(service, payingFetch(payer));
    const cases: string[] = [];
    let text = '';
    let ended: JsonObject | undefined;
    for await (const { payload } of agent.sendMessageStream(sendRequest(message('Piece by piece')))) {
      if (!payload) throw new Error('an event is empty');
      cases.push(payload.$case);
      if (payload.$case === 'artifactUpdate')
        text += textOf({ artifacts: [payload.value.artifact].flatMap(it => it ?? []) });
      if (payload.$case === 'statusUpdate') {
        expect(payload.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
        ended = payload.value.metadata as JsonObject;
        expect(payload.value.status?.message?.metadata).toMatchObject({ 'x402.payment.status': 'payment-completed' });
      }
    }
    expect(cases[0]).toBe('task');
    expect(cases.filter(name => name === 'artifactUpdate').length).toBeGreaterThan(3);
    expect(cases.at(-1)).toBe('statusUpdate');
    expect(text).toContain('Piece by piece');
    expect(ended).toMatchObject({ svc: { payer_wallet: payer.address } });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('402 to whoever pays nothing, and -32602 where it is no message', async () => {
    expect((await rpc(service, 'SendStreamingMessage', rawMessage('Hello'))).status).toBe(402);
    expect((await rpc(service, 'SendStreamingMessage', {}, KEY)).body.error.code).toBe(-32602);
  });
});
