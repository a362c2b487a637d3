import { type Task, TaskState } from '@a2a-js/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import { A2A, agentAt, message, payerHeader, rawMessage, rpc, sendRequest, textOf } from '../../harness/a2a/agent.ts';
import { payingFetch } from '../../harness/buyer.ts';
import { openService, resetHubsBeforeEach, type Service } from '../../harness/doors/open-service.ts';
import { policyDoorsOf } from '../../harness/doors/policies.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let bought: Task;
beforeAll(async () => {
  service = await openService({ API_KEYS: 'a-live-key,another-live-key', DEMO_KEYS: 'a-demo-key' });
  agent = await service.newAgent();
  const client = await agentAt(service, payingFetch(agent.account));
  bought = (await client.sendMessage(sendRequest(message('Mine', { contextId: 'bill-1' })))) as Task;
});
resetHubsBeforeEach(() => service);

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
    const made = await rpc<{ task: JsonObject }>(service, 'SendMessage', rawMessage('By key'), KEY);
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

/** A call in progress, whose hub was called and does not answer. */
async function underWay(headers: Record<string, string>, content: string, method = 'SendMessage') {
  service.gates.alpha.hold();
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: rawMessage('', { parts: [{ data: { model: 'alpha-1' } }, { text: content }] }),
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
    // The hub has not answered and never will, so only the cancellation can have ended the call.
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
    expect((await rpc(service, 'SendMessage', rawMessage('Then this'), payment)).status).toBe(200);
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
    ).rejects.toThrow(/task has ended/);
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

describe('ListTasks', () => {
  it('tasks of one’s own by session or signature, newest first, page by page of the size that is said, without artifacts unless asked', async () => {
    const payer = await service.chain.newWallet();
    const ids: string[] = [];
    for (const content of ['one', 'two', 'three']) {
      const made = await service.knock<{ result: { task: { id: string } } }>('POST', A2A, {
        body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: rawMessage(content, { contextId: content }) },
        headers: { 'A2A-Version': '1.0' },
        by: payingFetch(payer),
      });
      ids.unshift(made.body.result.task.id);
    }
    const signed = await payerHeader(service, payer);
    const list = async (params: JsonObject) => (await rpc<Page>(service, 'ListTasks', params, signed)).body.result;
    const whole = await list({});
    expect(whole).toMatchObject({ totalSize: 3, pageSize: 50, nextPageToken: '' });
    expect(whole.tasks.map(({ id }) => id)).toEqual(ids);
    expect(whole.tasks.every(task => !('artifacts' in task))).toBe(true);
    const first = await list({ pageSize: 2 });
    expect(first).toMatchObject({ totalSize: 3, pageSize: 2 });
    const rest = await list({ pageSize: 2, pageToken: first.nextPageToken });
    expect(rest).toMatchObject({ totalSize: 3, pageSize: 2, nextPageToken: '' });
    expect([...first.tasks, ...rest.tasks].map(({ id }) => id)).toEqual(ids);
    expect(JSON.stringify((await list({ includeArtifacts: true })).tasks[0])).toContain('three');
    expect((await list({ contextId: 'two' })).tasks.map(({ id }) => id)).toEqual([ids[1]]);
    expect(await list({ status: 'TASK_STATE_WORKING' })).toMatchObject({ tasks: [], totalSize: 0 });
    expect(await list({ status: 'TASK_STATE_SUBMITTED' })).toMatchObject({ tasks: [], totalSize: 0 });
    expect(await list({ statusTimestampAfter: new Date(Date.now() + 60_000).toISOString() })).toMatchObject({
      totalSize: 0,
    });
    const mine = await (await client()).listTasks(
      { tenant: '', contextId: 'bill-1', status: 0, pageToken: '', statusTimestampAfter: undefined },
      { serviceParameters: session() },
    );
    expect(mine.tasks.map(({ id }) => id)).toEqual([bought.id]);
  });

  it('what a live key has bought, to that key', async () => {
    const made = await rpc<{ task: { id: string } }>(service, 'SendMessage', rawMessage('Listed'), KEY);
    const { tasks } = (await rpc<Page>(service, 'ListTasks', {}, KEY)).body.result;
    expect(tasks[0]?.id).toBe(made.body.result.task.id);
    expect((await rpc<Page>(service, 'ListTasks', {}, { 'X-API-Key': 'another-live-key' })).body.result.totalSize).toBe(
      0,
    );
  });

  const listed = async (headers: Record<string, string>, status: string) =>
    (await rpc<Page>(service, 'ListTasks', { status }, headers)).body.result.tasks.map(({ id }) => id);

  it('to a session also what others have paid for on its book, and its own calls by key there', async () => {
    const holder = await service.newAgent();
    const shown = { 'X-SVC-Session': holder.session };
    const other = await service.chain.newWallet();
    const paid = await rpc<{ task: { id: string } }>(service, 'SendMessage', rawMessage('For another'), {
      ...(await service.payment(other, A2A)),
      ...shown,
    });
    const by_key = await rpc<{ task: { id: string } }>(service, 'SendMessage', rawMessage('By key'), {
      ...KEY,
      ...shown,
    });
    const expected = [by_key.body.result.task.id, paid.body.result.task.id, holder.task_id];
    expect(await listed(shown, 'TASK_STATE_COMPLETED')).toEqual(expected);
    expect(await listed({ ...KEY, ...shown }, 'TASK_STATE_COMPLETED')).toEqual(expect.arrayContaining(expected));
    expect(await listed(await payerHeader(service, other), 'TASK_STATE_COMPLETED')).toEqual([expected[1]]);
  });

  it('what came to nothing: failed at its hubs, and refused by its book, as GetTask tells of each', async () => {
    const refused = await policyDoorsOf(service).newBlockedAgent();
    const shown = { 'X-SVC-Session': refused.session };
    const heard = await rpc(
      service,
      'SendMessage',
      rawMessage('Not this'),
      await service.payment(refused.account, A2A),
    );
    expect(heard.status).toBe(403);
    const [rejected = ''] = await listed(shown, 'TASK_STATE_REJECTED');
    expect(await listed(await payerHeader(service, refused.account), 'TASK_STATE_REJECTED')).toEqual([rejected]);
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const payer = await service.chain.newWallet();
    const failed = await rpc(service, 'SendMessage', rawMessage('Fails'), await service.payment(payer, A2A));
    expect(failed.status).toBe(502);
    const signed = await payerHeader(service, payer);
    const [released = ''] = await listed(signed, 'TASK_STATE_FAILED');
    for (const [id, headers, state] of [
      [rejected, shown, 'TASK_STATE_REJECTED'],
      [released, signed, 'TASK_STATE_FAILED'],
    ] as const) {
      const { status, metadata } = (await rpc(service, 'GetTask', { id }, headers)).body.result;
      expect([status, metadata]).toMatchObject([{ state }, { svc: { task_id: id } }]);
    }
    // The refusal is stored longer than its payment, whose claim is deleted soon.
    await service.query('delete from payment_claim where task_id = $1', [rejected]);
    expect(await listed(shown, 'TASK_STATE_REJECTED')).toEqual([rejected]);
    const { status } = (await rpc(service, 'GetTask', { id: rejected }, shown)).body.result;
    expect(new Date(String((status as JsonObject).timestamp)).getTime()).toBeGreaterThan(Date.now() - 600_000);
  });

  it('401 to whoever shows nothing, or a key that is nobody’s or a demo', async () => {
    for (const headers of [nothing, { 'X-API-Key': 'nobodys' }, { 'X-API-Key': 'a-demo-key' }]) {
      const { status, body } = await rpc(service, 'ListTasks', {}, headers);
      expect([status, body.error.code]).toEqual([401, -32041]);
    }
  });

  it.each<[string, JsonObject]>([
    ['a page size of none', { pageSize: 0 }],
    ['a page size of too many', { pageSize: 101 }],
    ['a page token that is none', { pageToken: 'nobodys' }],
    ['a state that is none', { status: 'TASK_STATE_ODD' }],
    ['a time that is none', { statusTimestampAfter: 'yesterday' }],
    ['a history of less than none', { historyLength: -1 }],
  ])('-32602 on %s', async (_, params) => {
    expect((await rpc(service, 'ListTasks', params, session())).body.error.code).toBe(-32602);
  });
});

it('CancelTask again and again, with one payment: it lapses, and no hub works for it any more', async () => {
  const payer = await service.chain.newWallet();
  const payment = await service.payment(payer, A2A);
  const signed = await payerHeader(service, payer);
  const before = service.gates.alpha.held();
  service.gates.alpha.hold();
  const send = () =>
    rpc(
      service,
      'SendMessage',
      rawMessage('', { parts: [{ data: { model: 'alpha-1' } }, { text: 'Never mind' }] }),
      payment,
    );
  const working = { status: 'TASK_STATE_WORKING' };
  const calls: ReturnType<typeof send>[] = [];
  for (let time = 1; time <= limits.payment_failures_max; time++) {
    calls.push(send());
    await expect.poll(() => service.gates.alpha.held()).toBe(before + time);
    const listed = await rpc<{ tasks: readonly JsonObject[] }>(service, 'ListTasks', working, signed);
    const canceled = await rpc(service, 'CancelTask', { id: String(listed.body.result.tasks[0]?.id) }, signed);
    expect(canceled.body.result).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  }
  const refused = await send();
  expect(refused.body.error.data[0]?.reason).toBe('PAYMENT_LAPSED');
  expect(service.gates.alpha.held()).toBe(before + limits.payment_failures_max);
  // All held calls were cancelled, so the hub's connections were closed.
  const heard = await Promise.all(calls);
  expect(heard.map(({ body }) => body.error.data[0]?.reason)).toEqual(calls.map(() => 'CALL_CANCELED'));
  expect(await service.transfersFrom(payer)).toHaveLength(0);
});
