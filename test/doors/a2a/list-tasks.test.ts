import type { Task } from '@a2a-js/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { A2A, agentAt, message, payerHeader, rpc, said, sent } from '../../harness/a2a/agent.ts';
import { payingFetch } from '../../harness/buyer.ts';
import { openService, type Service } from '../../harness/doors/open-service.ts';
import { refusing } from '../../harness/doors/refusing.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let bought: Task;
beforeAll(async () => {
  service = await openService({ API_KEYS: 'a-live-key,another-live-key', DEMO_KEYS: 'a-demo-key' });
  agent = await service.newAgent();
  const client = await agentAt(service, payingFetch(agent.account));
  bought = (await client.sendMessage(sent(message('Mine', { contextId: 'bill-1' })))) as Task;
});

const KEY = { 'X-API-Key': 'a-live-key' };
const nothing: Record<string, string> = {};
const session = () => ({ 'X-SVC-Session': agent.session });
const client = () => agentAt(service);

interface Page {
  readonly tasks: readonly (JsonObject & { readonly id: string })[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

describe('ListTasks', () => {
  it('tasks of one’s own by session or signature, newest first, page by page of the size that is said, without artifacts unless asked', async () => {
    const payer = await service.chain.newWallet();
    const ids: string[] = [];
    for (const content of ['one', 'two', 'three']) {
      const made = await service.knock<{ result: { task: { id: string } } }>('POST', A2A, {
        body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: said(content, { contextId: content }) },
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
    const made = await rpc<{ task: { id: string } }>(service, 'SendMessage', said('Listed'), KEY);
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
    const paid = await rpc<{ task: { id: string } }>(service, 'SendMessage', said('For another'), {
      ...(await service.payment(other, A2A)),
      ...shown,
    });
    const by_key = await rpc<{ task: { id: string } }>(service, 'SendMessage', said('By key'), { ...KEY, ...shown });
    const expected = [by_key.body.result.task.id, paid.body.result.task.id, holder.task_id];
    expect(await listed(shown, 'TASK_STATE_COMPLETED')).toEqual(expected);
    expect(await listed({ ...KEY, ...shown }, 'TASK_STATE_COMPLETED')).toEqual(expect.arrayContaining(expected));
    expect(await listed(await payerHeader(service, other), 'TASK_STATE_COMPLETED')).toEqual([expected[1]]);
  });

  it('what came to nothing: failed at its hubs, and refused by its book, as GetTask tells of each', async () => {
    const refused = await refusing(service).killed();
    const shown = { 'X-SVC-Session': refused.session };
    const heard = await rpc(service, 'SendMessage', said('Not this'), await service.payment(refused.account, A2A));
    expect(heard.status).toBe(403);
    const [rejected = ''] = await listed(shown, 'TASK_STATE_REJECTED');
    expect(await listed(await payerHeader(service, refused.account), 'TASK_STATE_REJECTED')).toEqual([rejected]);
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const payer = await service.chain.newWallet();
    const failed = await rpc(service, 'SendMessage', said('Fails'), await service.payment(payer, A2A));
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
    // Of a refusal there is more than of its payment, which is soon forgotten.
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
