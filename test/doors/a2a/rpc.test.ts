import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { A2A, type Rpc, rawMessage, rpc } from '../../harness/a2a/agent.ts';
import { ask, type Service, sharedService } from '../../harness/doors/open-service.ts';

/* Requirements of the A2A TCK on JSON-RPC (tests/mandatory/jsonrpc, tests/mandatory/protocol) that can be tested here. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const KEY = { 'X-API-Key': 'a-live-key' };
const V1 = { 'A2A-Version': '1.0' };
const post = (body: unknown, headers: Record<string, string> = V1) =>
  service.knock<Rpc>('POST', A2A, { body, headers });

describe('JSON-RPC', () => {
  it.each<[string, JsonObject, number, unknown]>([
    ['another version', { jsonrpc: '1.0', id: 1, method: 'GetTask', params: {} }, -32600, 1],
    ['no version', { jsonrpc: null, id: 1, method: 'GetTask' }, -32600, 1],
    ['no method', { jsonrpc: '2.0', id: 1, params: {} }, -32600, 1],
    ['a method that is no text', { jsonrpc: '2.0', id: 1, method: 7 }, -32600, 1],
    ['an id that is none', { jsonrpc: '2.0', id: { a: 1 }, method: 'GetTask' }, -32600, null],
    ['params that are a list', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: [] }, -32602, 1],
    ['params that are a text', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: 'invalid' }, -32602, 1],
    ['a method that nobody has', { jsonrpc: '2.0', id: 'x', method: 'SendNothing', params: {} }, -32601, 'x'],
    ['a call that is a chat as well', { ...ask('Hello'), jsonrpc: '2.0' }, -32600, null],
  ])('an error by its own code on %s, with HTTP 200', async (_, body, code, id) => {
    const heard = await post(body);
    expect([heard.status, heard.body.error.code, heard.body.id, heard.body.jsonrpc]).toEqual([200, code, id, '2.0']);
    expect(heard.body.error.data[0]).toMatchObject({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo' });
  });

  it('-32700 on what is no JSON, where the headers say that it is a call; else 402, as of any body', async () => {
    const broken = '{"jsonrpc": "2.0", "method": "GetTask", "params": {"id": "x"';
    const heard = await post(broken);
    expect([heard.status, heard.body.error.code, heard.body.id]).toEqual([200, -32700, null]);
    expect((await post(broken, {})).status).toBe(402);
  });

  it('402 to an unpaid body that is no call, read or not', async () => {
    for (const body of [{}, ask('Hello'), []]) expect((await post(body, {})).status).toBe(402);
  });

  it('the same id twice is answered twice', async () => {
    for (const _ of [1, 2]) {
      const { body } = await post({ jsonrpc: '2.0', id: 'same', method: 'GetTask', params: { id: 'nobodys' } });
      expect([body.id, body.error.code]).toEqual(['same', -32001]);
    }
  });

  it.each([
    'CreateTaskPushNotificationConfig',
    'GetTaskPushNotificationConfig',
    'ListTaskPushNotificationConfigs',
    'DeleteTaskPushNotificationConfig',
  ])('-32003 on %s', async method => {
    expect((await rpc(service, method, {})).body.error.code).toBe(-32003);
  });

  it('-32004 on GetExtendedAgentCard', async () => {
    expect((await rpc(service, 'GetExtendedAgentCard', {})).body.error.code).toBe(-32004);
  });

  it('a version by header or query, patch numbers aside; -32009 on one that is not served, -32601 on a method of another', async () => {
    const code = async (method: string, version: string) =>
      (await rpc(service, method, { id: 'nobodys' }, { 'A2A-Version': version })).body.error.code;
    expect(await code('GetTask', '1.0.3')).toBe(-32001);
    expect(await code('GetTask', '0.5')).toBe(-32009);
    expect(await code('GetTask', '0.3')).toBe(-32601);
    expect(await code('tasks/get', '1.0')).toBe(-32601);
    const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'nobodys' } };
    const asked = await service.knock<Rpc>('POST', `${A2A}?A2A-Version=9.9`, { body });
    expect(asked.body.error.code).toBe(-32009);
  });

  it('the free methods say how often they may be asked', async () => {
    const { headers } = await rpc(service, 'GetTask', { id: 'nobodys' });
    expect(headers.get('ratelimit')).toContain('free');
  });
});

describe('tests/mandatory/protocol', () => {
  it('message send, then get by its id with a history, then cancel of what has come to its end', async () => {
    const made = await rpc<{ task: JsonObject }>(service, 'SendMessage', rawMessage('Hello'), KEY);
    const { id = '', status } = made.body.result.task;
    expect(status).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
    const got = await rpc(service, 'GetTask', { id, historyLength: 2 }, KEY);
    expect(got.body.result).toMatchObject({ id, history: [], status: { state: 'TASK_STATE_COMPLETED' } });
    expect((await rpc(service, 'CancelTask', { id }, KEY)).body.error.code).toBe(-32002);
  });

  it('a message sent with another HTTP method finds no door', async () => {
    expect((await service.knock('GET', A2A)).status).toBe(402);
  });
});
