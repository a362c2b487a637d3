import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { A2A, agentAt, message, type Rpc, rawMessage, rpc, sendRequest, X402 } from '../../harness/a2a/agent.ts';
import { handMadePayment, type OfferV1 } from '../../harness/buyer.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';
import type { TableAnswer } from '../../harness/doors/table.ts';

/* A2A errors, times of tasks and prices have the same form in every method. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const KEY = { 'X-API-Key': 'a-live-key' };
const ACTIVE = { 'A2A-Extensions': X402 };
type TaskAnswer = JsonObject & { readonly id: string; readonly status: { readonly timestamp?: string } };
const bought = async (text: string): Promise<TaskAnswer> =>
  (await rpc<{ task: TaskAnswer }>(service, 'SendMessage', rawMessage(text), KEY)).body.result.task;
const offered = async (): Promise<TaskAnswer> =>
  (await rpc<{ task: TaskAnswer }>(service, 'SendMessage', rawMessage('Hello'), ACTIVE)).body.result.task;

/** The parts of an error that a client uses. */
const errorOf = ({ status, body: { error } }: TableAnswer<Rpc>) => [
  status,
  error.code,
  error.data[0]?.reason,
  error.data[0]?.domain,
];

describe('an error of A2A has one reason and one domain, and is told by HTTP 200', () => {
  it('-32001', async () => {
    for (const heard of [
      await rpc(service, 'GetTask', { id: 'nobodys' }),
      await rpc(service, 'CancelTask', { id: 'nobodys' }, KEY),
      await rpc(service, 'SubscribeToTask', { id: 'nobodys' }),
      await rpc(service, 'SendMessage', rawMessage('More', { taskId: 'nobodys' }), KEY),
    ])
      expect(errorOf(heard)).toEqual([200, -32001, 'TASK_NOT_FOUND', 'a2a-protocol.org']);
  });

  it('-32002', async () => {
    for (const { id } of [await bought('Settled'), await offered()])
      expect(errorOf(await rpc(service, 'CancelTask', { id }, KEY))).toEqual([
        200,
        -32002,
        'TASK_NOT_CANCELABLE',
        'a2a-protocol.org',
      ]);
  });

  it('-32602, and what the service calls it stands in the facts', async () => {
    const unknown = rawMessage('', { parts: [{ data: { model: 'nobody-1' } }, { text: 'Hello' }] });
    const refused = await rpc(service, 'SendMessage', unknown, KEY);
    expect(refused.body.error.data.at(-1)).toMatchObject({ value: { code: 'unknown_model' } });
    for (const heard of [refused, await rpc(service, 'GetTask', {})])
      expect(errorOf(heard)).toEqual([200, -32602, 'INVALID_PARAMS', 'a2a-protocol.org']);
  });

  it('-32001 on an offer that was altered, and -32602 on a page that is none, by the name that it has here', async () => {
    const { id } = await offered();
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
      expect(errorOf(await rpc(service, method, { id: `${id.slice(0, -4)}AAAA` }, KEY))[1], method).toBe(-32001);
    const { body } = await rpc(service, 'ListTasks', { pageToken: 'nobodys' }, KEY);
    expect([body.error.code, body.error.data[1]]).toEqual([
      -32602,
      expect.objectContaining({ fieldViolations: [expect.objectContaining({ field: 'pageToken' })] }),
    ]);
  });
});

describe('the time of a task', () => {
  it('is the same from SendMessage, GetTask and ListTasks', async () => {
    const { id, status } = await bought('When');
    expect(status.timestamp).toEqual(expect.stringMatching(/^\d{4}-.*Z$/));
    const got = (await rpc<TaskAnswer>(service, 'GetTask', { id }, KEY)).body.result;
    const { tasks } = (await rpc<{ tasks: readonly TaskAnswer[] }>(service, 'ListTasks', {}, KEY)).body.result;
    for (const task of [got, tasks.find(task => task.id === id)]) expect(task?.status.timestamp).toBe(status.timestamp);
  });

  it('is the same at the end of a stream', async () => {
    const agent = await agentAt(service);
    const ends: { readonly id: string; readonly timestamp: string | undefined }[] = [];
    const stream = agent.sendMessageStream(sendRequest(message('When, in pieces')), { serviceParameters: KEY });
    for await (const { payload } of stream)
      if (payload?.$case === 'statusUpdate')
        ends.push({ id: payload.value.taskId, timestamp: payload.value.status?.timestamp });
    const got = (await rpc<TaskAnswer>(service, 'GetTask', { id: ends.at(-1)?.id ?? '' }, KEY)).body.result;
    expect(ends.at(-1)?.timestamp).toBe(got.status.timestamp);
  });
});

describe('the price of a message, where the extension is not activated', () => {
  it.each([
    ['1.0', 'SendMessage', { 'A2A-Version': '1.0' }],
    ['1.0, in pieces', 'SendStreamingMessage', { 'A2A-Version': '1.0' }],
    ['0.3', 'message/send', {}],
  ])(
    '402 in %s holds the offer as a client of x402’s first version reads it, and pays it',
    async (_, method, headers) => {
      const payer = await service.chain.newWallet();
      const part = method === 'message/send' ? { kind: 'text', text: 'Hello' } : { text: 'Hello' };
      const role = method === 'message/send' ? 'user' : 'ROLE_USER';
      const params = { message: { messageId: randomUUID(), role, parts: [part] } };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const knock = (payment: Record<string, string> = {}) =>
        fetch(service.url + A2A, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...(headers as Record<string, string>), ...payment },
          body,
        });
      const asked = await knock();
      const said = (await asked.json()) as Rpc & { x402Version: number; accepts: OfferV1[] };
      expect([asked.status, said.x402Version, said.jsonrpc, said.error.code]).toEqual([402, 1, '2.0', -32042]);
      const offer = said.accepts.find(({ network }) => network === 'base') as OfferV1;
      const paid = await knock({ ...(await handMadePayment(payer, offer)) });
      expect([paid.status, paid.headers.get('X-PAYMENT-RESPONSE') !== null]).toEqual([200, true]);
      await paid.text();
      await expect.poll(() => service.transfersFrom(payer)).toHaveLength(1);
    },
  );

  it('no other refusal holds one', async () => {
    const { body } = await rpc(service, 'SendMessage', {}, KEY);
    expect(Object.keys(body)).toEqual(['jsonrpc', 'id', 'error']);
  });

  it('the official clients of 1.0 and 0.3 still hear an error of JSON-RPC', async () => {
    for (const legacy of [false, true]) {
      const agent = await agentAt(service, fetch, legacy);
      await expect(agent.sendMessage(sendRequest(message('Hello')))).rejects.toThrow(/payment|402/i);
    }
  });
});
