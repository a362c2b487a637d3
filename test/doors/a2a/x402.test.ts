import { type Task, TaskState } from '@a2a-js/sdk';
import { withA2AExtensions } from '@a2a-js/sdk/client';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import {
  agentAt,
  message,
  payerHeader,
  paymentMetadata,
  rawMessage,
  rpc,
  sendRequest,
  textOf,
  X402,
  X402_V01,
} from '../../harness/a2a/agent.ts';
import { handMadePayment, type OfferV1 } from '../../harness/buyer.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const ACTIVE = { 'A2A-Extensions': X402 };
const active = {
  serviceParameters: (() => {
    const p: Record<string, string> = {};
    withA2AExtensions(X402)(p);
    return p;
  })(),
};
type TaskAnswer = JsonObject & { readonly id: string; readonly status: JsonObject; readonly contextId: string };
const taskIn = async (...asked: Parameters<typeof rpc>) => {
  const heard = await rpc<{ task: TaskAnswer }>(...asked);
  return { ...heard, task: heard.body.result?.task };
};
const metadataOf = (task: TaskAnswer) => (task.status.message as JsonObject).metadata as JsonObject;

describe('SendMessage with x402 activated', () => {
  it('200 and a task that needs input, and pays: the same task, its answer, one transfer, by the official clients', async () => {
    const payer = await service.chain.newWallet();
    const agent = await agentAt(service);
    const asked = (await agent.sendMessage(sendRequest(message('Hello')), active)) as Task;
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const { 'x402.payment.required': required, ...rest } = asked.status?.message?.metadata ?? {};
    expect(rest).toEqual({ 'x402.payment.status': 'payment-required' });
    const metadata = await paymentMetadata(payer, required);
    const paying = message('Here is the payment.', { taskId: asked.id, contextId: asked.contextId, metadata });
    const done = (await agent.sendMessage(sendRequest(paying), active)) as Task;
    expect([done.id, done.contextId, done.status?.state]).toEqual([
      asked.id,
      asked.contextId,
      TaskState.TASK_STATE_COMPLETED,
    ]);
    expect(textOf(done)).toContain('"Hello"');
    expect(done.status?.message?.metadata).toMatchObject({
      'x402.payment.status': 'payment-completed',
      'x402.payment.receipts': [{ success: true, payer: payer.address }],
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
    const found = await agent.getTask({ tenant: '', id: asked.id });
    expect([found.id, found.contextId, found.status?.state]).toEqual([
      asked.id,
      asked.contextId,
      TaskState.TASK_STATE_COMPLETED,
    ]);
    const { svc } = done.metadata as { svc: JsonObject };
    expect((await agent.getTask({ tenant: '', id: String(svc.task_id) })).status?.state).toBe(
      TaskState.TASK_STATE_COMPLETED,
    );
  });

  it('the extension is said to be active by the header that asked for it', async () => {
    expect((await taskIn(service, 'SendMessage', rawMessage('Hello'), ACTIVE)).headers.get('A2A-Extensions')).toBe(
      X402,
    );
    const old = await taskIn(service, 'SendMessage', rawMessage('Hello'), { 'X-A2A-Extensions': `other, ${X402}` });
    expect([old.status, old.headers.get('X-A2A-Extensions')]).toEqual([200, X402]);
  });

  it('another payment of the same payer for the same task gets what the first has bought', async () => {
    const payer = await service.chain.newWallet();
    const { task } = await taskIn(service, 'SendMessage', rawMessage('Once'), ACTIVE);
    const pay = async () => {
      const metadata = await paymentMetadata(payer, metadataOf(task)['x402.payment.required']);
      return taskIn(service, 'SendMessage', rawMessage('Pay', { taskId: task.id, metadata }), ACTIVE);
    };
    const [first, again] = [await pay(), await pay()];
    expect(again.task.metadata).toMatchObject({
      svc: { task_id: ((first.task.metadata as JsonObject).svc as JsonObject).task_id as string },
    });
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('a client of 0.1 is offered x402 version 1, pays so, and the task is found again', async () => {
    const payer = await service.chain.newWallet();
    const v01 = { 'X-A2A-Extensions': X402_V01 };
    const { task } = await taskIn(service, 'SendMessage', rawMessage('Old'), v01);
    const required = metadataOf(task)['x402.payment.required'] as unknown as {
      x402Version: number;
      accepts: OfferV1[];
    };
    expect(required).toMatchObject({
      x402Version: 1,
      accepts: [{ network: 'base' }, {}].slice(0, required.accepts.length),
    });
    const { 'X-PAYMENT': header = '' } = await handMadePayment(payer, required.accepts[0] as OfferV1);
    const payload = JSON.parse(Buffer.from(header, 'base64').toString());
    const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload };
    const { task: done } = await taskIn(service, 'SendMessage', rawMessage('Pay', { taskId: task.id, metadata }), v01);
    expect(done).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect((await rpc(service, 'GetTask', { id: task.id })).body.result).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('an offer that is bought by key: GetTask under its id shows what that key has bought', async () => {
    const key = { 'X-API-Key': 'a-live-key' };
    const { task } = await taskIn(service, 'SendMessage', rawMessage('By key'), ACTIVE);
    const paying = rawMessage('With my key.', { taskId: task.id });
    const { task: done } = await taskIn(service, 'SendMessage', paying, { ...ACTIVE, ...key });
    expect(done).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    const { result } = (await rpc(service, 'GetTask', { id: task.id }, key)).body;
    expect(result).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(JSON.stringify(result.artifacts)).toContain('By key');
  });

  it('an offer that is bought by a payment of another name: GetTask under its id shows it to its payer', async () => {
    const payer = await service.chain.newWallet();
    const { task } = await taskIn(service, 'SendMessage', rawMessage('By my name'), ACTIVE);
    const paying = await paymentMetadata(payer, metadataOf(task)['x402.payment.required']);
    const extensions = { 'payment-identifier': { info: { id: `pay_${payer.address.slice(2)}` } } };
    const payload = { ...(paying['x402.payment.payload'] as JsonObject), extensions };
    const metadata = { ...paying, 'x402.payment.payload': payload };
    await taskIn(service, 'SendMessage', rawMessage('Pay', { taskId: task.id, metadata }), ACTIVE);
    const { result } = (await rpc(service, 'GetTask', { id: task.id }, await payerHeader(service, payer))).body;
    expect(result).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('a payment in the metadata of the first message pays at once', async () => {
    const payer = await service.chain.newWallet();
    const { task } = await taskIn(service, 'SendMessage', rawMessage('Asked'), ACTIVE);
    const metadata = await paymentMetadata(payer, metadataOf(task)['x402.payment.required']);
    const { task: done } = await taskIn(service, 'SendMessage', rawMessage('At once', { metadata }));
    expect(done.status).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
    expect(JSON.stringify(done.artifacts)).toContain('At once');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('a payment that does not do: the task still needs input, and says why by a code of the extension', async () => {
    const payer = await service.chain.newWallet();
    const { task } = await taskIn(service, 'SendMessage', rawMessage('Hello'), ACTIVE);
    const good = await paymentMetadata(payer, metadataOf(task)['x402.payment.required']);
    const payload = structuredClone(good['x402.payment.payload']) as { payload: { authorization: { value: string } } };
    payload.payload.authorization.value = '1';
    const bad = { ...good, 'x402.payment.payload': payload as unknown as JsonObject };
    const { status, task: still } = await taskIn(
      service,
      'SendMessage',
      rawMessage('Pay', { taskId: task.id, metadata: bad }),
      ACTIVE,
    );
    expect([status, still.id, still.status.state]).toEqual([200, task.id, 'TASK_STATE_INPUT_REQUIRED']);
    expect(metadataOf(still)).toMatchObject({
      'x402.payment.status': 'payment-failed',
      'x402.payment.error': expect.stringMatching(/^[A-Z_]+$/),
      'x402.payment.receipts': [{ success: false }],
    });
    const { task: done } = await taskIn(
      service,
      'SendMessage',
      rawMessage('Pay', { taskId: task.id, metadata: good }),
      ACTIVE,
    );
    expect(done.status).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
  });

  it('a payment that is declined: the task stays unpaid', async () => {
    const { task } = await taskIn(service, 'SendMessage', rawMessage('Hello'), ACTIVE);
    const metadata = { 'x402.payment.status': 'payment-rejected' };
    const { task: still } = await taskIn(
      service,
      'SendMessage',
      rawMessage('No', { taskId: task.id, metadata }),
      ACTIVE,
    );
    expect(metadataOf(still)['x402.payment.status']).toBe('payment-rejected');
  });

  it.each<[string, JsonObject, number]>([
    ['no message', {}, -32602],
    [
      'a temperature that is none',
      rawMessage('', { parts: [{ data: { temperature: 9 } }, { text: 'Hello' }] }),
      -32602,
    ],
    ['a payment that is none', rawMessage('Hello', { metadata: { 'x402.payment.payload': 7 } }), -32602],
  ])('nothing is offered for %s', async (_, params, code) => {
    expect((await rpc(service, 'SendMessage', params, ACTIVE)).body.error.code).toBe(code);
  });

  it('402 for a request that is longer than an id may be', async () => {
    const long = await rpc(service, 'SendMessage', rawMessage('x'.repeat(40_000)), ACTIVE);
    expect([long.status, long.body.error.code]).toEqual([402, -32042]);
    expect(long.headers.get('PAYMENT-REQUIRED')).not.toBeNull();
  });

  it('-32602 in another context than that of the task, -32001 for an id that was altered', async () => {
    const { task } = await taskIn(service, 'SendMessage', rawMessage('Hello'), ACTIVE);
    const elsewhere = rawMessage('Pay', { taskId: task.id, contextId: 'another' });
    expect((await rpc(service, 'SendMessage', elsewhere, ACTIVE)).body.error.code).toBe(-32602);
    const altered = rawMessage('Pay', { taskId: `${task.id.slice(0, -4)}AAAA` });
    expect((await rpc(service, 'SendMessage', altered, ACTIVE)).body.error.code).toBe(-32001);
  });

  it('an unpaid task: GetTask shows that it needs input, CancelTask and SubscribeToTask that nothing is held', async () => {
    const { task } = await taskIn(service, 'SendMessage', rawMessage('Hello'), ACTIVE);
    expect((await rpc(service, 'GetTask', { id: task.id })).body.result).toMatchObject({
      id: task.id,
      contextId: task.contextId,
      status: { state: 'TASK_STATE_INPUT_REQUIRED' },
    });
    expect((await rpc(service, 'CancelTask', { id: task.id })).body.error.code).toBe(-32002);
    expect((await rpc(service, 'SubscribeToTask', { id: task.id })).body.error.code).toBe(-32004);
  });
});

describe('SendStreamingMessage with x402 activated', () => {
  it('a stream of the task that needs input, and a stream of its answer once it is paid for', async () => {
    const payer = await service.chain.newWallet();
    const agent = await agentAt(service);
    const asked: Task[] = [];
    for await (const { payload } of agent.sendMessageStream(sendRequest(message('Streamed')), active))
      if (payload?.$case === 'task') asked.push(payload.value);
    const [task] = asked;
    if (!task) throw new Error('no task came');
    expect([asked.length, task.status?.state]).toEqual([1, TaskState.TASK_STATE_INPUT_REQUIRED]);
    const metadata = await paymentMetadata(payer, task.status?.message?.metadata?.['x402.payment.required']);
    const cases: string[] = [];
    const ids = new Set<string>();
    for await (const { payload } of agent.sendMessageStream(
      sendRequest(message('Pay', { taskId: task.id, metadata })),
      active,
    )) {
      cases.push(payload?.$case ?? '');
      if (payload?.$case === 'artifactUpdate') ids.add(payload.value.taskId);
    }
    expect([cases[0], cases.at(-1), [...ids]]).toEqual(['task', 'statusUpdate', [task.id]]);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});
