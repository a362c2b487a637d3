import { type Task, TaskState } from '@a2a-js/sdk';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { A2A, agentAt, message, payerHeader, rpc, said, sent, textOf } from '../../harness/a2a/agent.ts';
import { payingFetch } from '../../harness/buyer.ts';
import { openService, type Service } from '../../harness/doors/open-service.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let bought: Task;
beforeAll(async () => {
  service = await openService({ API_KEYS: 'a-live-key,another-live-key', DEMO_KEYS: 'a-demo-key' });
  agent = await service.newAgent();
  const client = await agentAt(service, payingFetch(agent.account));
  bought = (await client.sendMessage(sent(message('Mine', { contextId: 'bill-1' })))) as Task;
});
beforeEach(() => {
  for (const hub of service.hubs) hub.behave({ kind: 'answer' });
  service.gates.alpha.open();
});

const KEY = { 'X-API-Key': 'a-live-key' };
const nothing: Record<string, string> = {};
const session = () => ({ 'X-SVC-Session': agent.session });
const client = () => agentAt(service);

describe('GetTask', () => {
  it('its answer and receipt to the payer: by session, by fresh signature', async () => {
    for (const serviceParameters of [session(), await payerHeader(service, agent.account)]) {
      const task = await (await client()).getTask({ tenant: '', id: bought.id }, { serviceParameters });
      expect(textOf(task)).toBe(textOf(bought));
      expect(task).toMatchObject({
        id: bought.id,
        contextId: 'bill-1',
        status: { state: TaskState.TASK_STATE_COMPLETED },
      });
      const [mine, first] = [task, bought].map(
        ({ metadata }) => (metadata as { svc: JsonObject }).svc.issuer_signature,
      );
      expect(mine).toEqual(first);
    }
  });

  it('by the key that bought it, and to no other key', async () => {
    const made = await rpc<{ task: JsonObject }>(service, 'SendMessage', said('By key'), KEY);
    const { id } = made.body.result.task;
    const shown = async (headers: Record<string, string>) =>
      (await rpc(service, 'GetTask', { id: id ?? '' }, headers)).body.result;
    expect(JSON.stringify((await shown(KEY)).artifacts)).toContain('By key');
    for (const headers of [nothing, { 'X-API-Key': 'another-live-key' }])
      expect(await shown(headers)).toEqual({
        id,
        contextId: id,
        status: { state: 'TASK_STATE_COMPLETED', timestamp: expect.any(String) },
      });
  });

  it('where it stands to everybody else, and nothing more: not to a demo key, not to another agent', async () => {
    const other = await service.newAgent();
    const signed = await payerHeader(service, other.account);
    for (const headers of [{}, { 'X-SVC-Session': other.session }, signed, { 'X-API-Key': 'a-demo-key' }]) {
      const { body, status } = await rpc(service, 'GetTask', { id: bought.id }, headers);
      expect([status, Object.keys(body.result)]).toEqual([200, ['id', 'contextId', 'status']]);
    }
  });

  it('what a stamp has brought is shown to nobody', async () => {
    const { body } = await rpc(service, 'GetTask', { id: agent.task_id }, session());
    expect(body.result).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      metadata: { svc: { task_id: agent.task_id } },
    });
    expect(body.result.artifacts).toBeUndefined();
    expect(JSON.stringify(body)).not.toContain(agent.session);
  });

  it('401 for a signature that is none, is old or is of another service; 403 for a session that is none', async () => {
    const now = Math.floor(Date.now() / 1000);
    const elsewhere = await payerHeader({ url: 'https://svc.example' }, agent.account);
    for (const headers of [
      await payerHeader(service, agent.account, now - 301),
      elsewhere,
      { 'X-SVC-Payer': 'nobody' },
    ]) {
      const { status, body } = await rpc(service, 'GetTask', { id: bought.id }, headers);
      expect([status, body.error.code, body.error.data[0]?.reason]).toEqual([401, -32041, 'CONTROL_PROOF_INVALID']);
    }
    const shut = await rpc(service, 'GetTask', { id: bought.id }, { 'X-SVC-Session': 'nobodys' });
    expect([shut.status, shut.body.error.code]).toEqual([403, -32043]);
  });

  it('-32001 on a task that nobody has, -32602 on params that are none', async () => {
    expect((await rpc(service, 'GetTask', { id: 'nobodys' })).body.error.code).toBe(-32001);
    for (const params of [nothing, { id: 7 }, { id: bought.id, historyLength: -1 }] as JsonObject[])
      expect((await rpc(service, 'GetTask', params)).body.error.code).toBe(-32602);
  });
});

interface Page {
  readonly tasks: readonly (JsonObject & { readonly id: string })[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** A call that is being worked for: its hub is asked, and does not answer. */
async function underWay(headers: Record<string, string>, content: string, method = 'SendMessage') {
  service.gates.alpha.hold();
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: said('', { parts: [{ data: { model: 'alpha-1' } }, { text: content }] }),
  };
  const answer = fetch(service.url + A2A, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'A2A-Version': '1.0', ...headers },
    body: JSON.stringify(body),
  });
  return { answer };
}

describe('CancelTask', () => {
  it('of a task whose payment was not sent: canceled for its payer alone, its hub is hung up on, nothing charged, and its call hears so', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, A2A);
    const { answer } = await underWay(payment, 'Never mind');
    const signed = await payerHeader(service, payer);
    const listed = async () => (await rpc<Page>(service, 'ListTasks', {}, signed)).body.result.tasks[0]?.id;
    await expect.poll(listed).toBeDefined();
    const id = String(await listed());
    expect((await rpc(service, 'GetTask', { id })).body.result).toMatchObject({
      status: { state: 'TASK_STATE_WORKING' },
    });
    expect((await rpc(service, 'CancelTask', { id })).status).toBe(401);
    expect((await rpc(service, 'CancelTask', { id }, session())).status).toBe(403);
    const canceled = await rpc(service, 'CancelTask', { id }, signed);
    expect(canceled.body.result).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
    expect((await rpc(service, 'CancelTask', { id }, signed)).body.result).toMatchObject({
      status: { state: 'TASK_STATE_CANCELED' },
    });
    // The hub has not answered, and never will.
    const heard = await answer;
    expect([heard.status, await heard.text()]).toEqual([409, expect.stringContaining('CALL_CANCELED')]);
    service.gates.alpha.open();
    expect((await rpc(service, 'GetTask', { id })).body.result).toMatchObject({
      status: { state: 'TASK_STATE_CANCELED' },
    });
    expect((await service.get(`/task-status?task_id=${id}`)).body).toMatchObject({
      status: 'canceled',
      proof_outcome: 'none',
    });
    const canceled_ones = await rpc<Page>(service, 'ListTasks', { status: 'TASK_STATE_CANCELED' }, signed);
    expect(canceled_ones.body.result.tasks).toMatchObject([{ id, status: { state: 'TASK_STATE_CANCELED' } }]);
    expect(await service.transfersFrom(payer)).toHaveLength(0);
    expect((await rpc(service, 'SendMessage', said('Then this'), payment)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it.each(['SendMessage', 'SendStreamingMessage'])(
    'of a call by key (%s): its hub is hung up on, and its call hears so',
    async method => {
      const { answer } = await underWay(KEY, 'Never mind', method);
      const working = async () =>
        (await rpc<Page>(service, 'ListTasks', { status: 'TASK_STATE_WORKING' }, KEY)).body.result.tasks[0]?.id;
      await expect.poll(working).toBeDefined();
      const id = String(await working());
      expect((await rpc(service, 'CancelTask', { id }, KEY)).body.result).toMatchObject({
        status: { state: 'TASK_STATE_CANCELED' },
      });
      const heard = await answer;
      expect([heard.status, await heard.text()]).toEqual([409, expect.stringContaining('CALL_CANCELED')]);
    },
  );

  it('-32002 on a settled task, 403 to a demo key, -32001 on a task that nobody has', async () => {
    expect((await rpc(service, 'CancelTask', { id: bought.id }, session())).body.error.code).toBe(-32002);
    await expect(
      (await client()).cancelTask({ tenant: '', id: bought.id, metadata: undefined }, { serviceParameters: session() }),
    ).rejects.toThrow(/come to its end/);
    expect(
      (await rpc(service, 'CancelTask', { id: bought.id }, { ...session(), 'X-API-Key': 'a-demo-key' })).status,
    ).toBe(403);
    expect((await rpc(service, 'CancelTask', { id: 'nobodys' }, session())).body.error.code).toBe(-32001);
  });
});

describe('SubscribeToTask', () => {
  it('a task under way to its payer: as it stands, then its answer and how it ended; to nobody else', async () => {
    const payer = await service.chain.newWallet();
    const { answer } = await underWay(await service.payment(payer, A2A), 'Followed');
    const signed = await payerHeader(service, payer);
    const listed = async () => (await rpc<Page>(service, 'ListTasks', {}, signed)).body.result.tasks[0]?.id;
    await expect.poll(listed).toBeDefined();
    const id = String(await listed());
    expect((await rpc(service, 'SubscribeToTask', { id })).status).toBe(401);
    expect((await rpc(service, 'SubscribeToTask', { id }, session())).status).toBe(403);
    const cases: string[] = [];
    for await (const { payload } of (await client()).resubscribeTask(
      { tenant: '', id },
      { serviceParameters: signed },
    )) {
      cases.push(payload?.$case ?? '');
      if (payload?.$case === 'task') {
        expect(payload.value.status?.state).toBe(TaskState.TASK_STATE_WORKING);
        service.gates.alpha.open();
      }
      if (payload?.$case === 'artifactUpdate') expect(JSON.stringify(payload.value)).toContain('Followed');
    }
    expect([cases[0], cases.at(-1)]).toEqual(['task', 'statusUpdate']);
    expect(cases).toContain('artifactUpdate');
    expect((await answer).status).toBe(200);
  });

  it('-32004 on a task that has come to its end, -32001 on one that nobody has', async () => {
    expect((await rpc(service, 'SubscribeToTask', { id: bought.id }, session())).body.error.code).toBe(-32004);
    expect((await rpc(service, 'SubscribeToTask', { id: 'nobodys' }, session())).body.error.code).toBe(-32001);
  });
});
