import { type Task, TaskState } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { LegacyJsonRpcTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { A2A, message, type Rpc, sendRequest, textOf, X402_V01 } from '../../harness/a2a/agent.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';

/* Clients of A2A 0.3 use other names and values, and send no version header. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const KEY = { 'X-API-Key': 'a-live-key' };

const call = (method: string, params: JsonObject, headers: Record<string, string> = KEY) =>
  service.knock<Rpc>('POST', A2A, { body: { jsonrpc: '2.0', id: 'old', method, params }, headers });

const legacyMessage = (text: string, members: JsonObject = {}): JsonObject => ({
  message: {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...members,
  },
});

describe('0.3', () => {
  it('message/send: a bare task in the words of 0.3', async () => {
    const { status, body } = await call('message/send', legacyMessage('Hello'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      jsonrpc: '2.0',
      id: 'old',
      result: {
        kind: 'task',
        id: expect.stringMatching(/^task_/),
        status: { state: 'completed' },
        artifacts: [{ parts: [{ kind: 'text' }] }],
      },
    });
    expect(body.result.contextId).toBe(body.result.id);
  });

  it('message/send unpaid: 402, or with x402 activated a task that is input-required', async () => {
    expect((await call('message/send', legacyMessage('Hello'), {})).status).toBe(402);
    const { status, body } = await call('message/send', legacyMessage('Hello'), { 'X-A2A-Extensions': X402_V01 });
    expect(status).toBe(200);
    expect(body.result).toMatchObject({
      kind: 'task',
      status: {
        state: 'input-required',
        message: {
          kind: 'message',
          role: 'agent',
          metadata: { 'x402.payment.status': 'payment-required', 'x402.payment.required': { x402Version: 1 } },
        },
      },
    });
  });

  it('message/stream: the events name their kinds, and the last one is final', async () => {
    const headers = { 'content-type': 'application/json', ...KEY };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: legacyMessage('Streamed') });
    const answer = await fetch(service.url + A2A, { method: 'POST', headers, body });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const events = (await answer.text())
      .split('\n\n')
      .flatMap(event => (event === '' ? [] : [(JSON.parse(event.slice('data: '.length)) as Rpc).result]));
    expect([events[0]?.kind, events.at(-1)?.kind]).toEqual(['task', 'status-update']);
    expect(events.at(-1)).toMatchObject({ final: true, status: { state: 'completed' } });
    expect(events.filter(({ kind }) => kind === 'artifact-update').length).toBeGreaterThan(3);
  });

  it('tasks/get, tasks/cancel, tasks/resubscribe and agent/getAuthenticatedExtendedCard', async () => {
    const { id } = (await call('message/send', legacyMessage('Mine'))).body.result;
    const of = { id: String(id) };
    expect((await call('tasks/get', of)).body.result).toMatchObject({
      kind: 'task',
      id,
      status: { state: 'completed' },
      artifacts: [{}],
    });
    expect((await call('tasks/get', of, {})).body.result).not.toHaveProperty('artifacts');
    expect((await call('tasks/get', { id: 'nobodys' })).body.error.code).toBe(-32001);
    expect((await call('tasks/cancel', of)).body.error.code).toBe(-32002);
    expect((await call('tasks/resubscribe', of)).body.error.code).toBe(-32004);
    expect((await call('agent/getAuthenticatedExtendedCard', {})).body.error.code).toBe(-32004);
  });

  it.each(['set', 'get', 'list', 'delete'])('-32003 on tasks/pushNotificationConfig/%s', async name => {
    const { body } = await call(`tasks/pushNotificationConfig/${name}`, { id: 'nobodys' });
    expect([body.error.code, body.error.data[0]?.reason]).toEqual([-32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED']);
  });

  it('the official client finds its way in by the card of 0.3, as such a client reads it', async () => {
    const legacyCompat = { enabled: true };
    const cardResolver = new DefaultAgentCardResolver({ path: '/.well-known/agent.json', legacyCompat });
    const transports = [new JsonRpcTransportFactory({ legacyCompat })];
    const agent = await new ClientFactory({ transports, cardResolver }).createFromUrl(service.url);
    expect(agent.protocolVersion).toMatch(/^0\.3/);
    const task = (await agent.sendMessage(sendRequest(message('By its card')), { serviceParameters: KEY })) as Task;
    expect(textOf(task)).toContain('By its card');
  });

  it('the official client, told to speak 0.3', async () => {
    const agent = new LegacyJsonRpcTransport({ endpoint: service.url + A2A });
    const parts = [
      { content: { $case: 'text' as const, value: 'By the SDK' }, metadata: undefined, filename: '', mediaType: '' },
    ];
    const asked = {
      messageId: 'm',
      contextId: '',
      taskId: '',
      role: 1,
      parts,
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    const task = (await agent.sendMessage(
      { tenant: '', message: asked, configuration: undefined, metadata: undefined },
      { serviceParameters: KEY },
    )) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });
});
