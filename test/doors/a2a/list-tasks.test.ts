import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { payerHeader, paymentMetadata, rawMessage, rpc, X402 } from '../../harness/a2a/agent.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';

/* The context that an offer names is that of the task which it was bought as, in every method. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const ACTIVE = { 'A2A-Extensions': X402 };
const KEY = { 'X-API-Key': 'a-live-key' };

type TaskAnswer = JsonObject & { readonly id: string; readonly contextId: string; readonly status: JsonObject };
type Headers = Readonly<Record<string, string>>;

async function offered(text: string, members: JsonObject = {}): Promise<TaskAnswer> {
  return (await rpc<{ task: TaskAnswer }>(service, 'SendMessage', rawMessage(text, members), ACTIVE)).body.result.task;
}

async function metadataFor(task: TaskAnswer, payer: Awaited<ReturnType<Service['chain']['newWallet']>>) {
  const { metadata } = task.status.message as { metadata: JsonObject };
  return paymentMetadata(payer, metadata['x402.payment.required']);
}

async function buy(task: TaskAnswer, members: JsonObject, headers: Headers = ACTIVE): Promise<string> {
  const paid = await rpc<{ task: TaskAnswer }>(
    service,
    'SendMessage',
    rawMessage('Pay', { taskId: task.id, ...members }),
    headers,
  );
  const { svc } = paid.body.result.task.metadata as { svc: { task_id: string } };
  return svc.task_id;
}

async function contexts(headers: Headers, params: JsonObject = {}) {
  const { tasks } = (await rpc<{ tasks: readonly TaskAnswer[] }>(service, 'ListTasks', params, headers)).body.result;
  return tasks.map(({ id, contextId }) => ({ id, contextId }));
}

describe('a task that was bought by its offer', () => {
  it('paid for by x402: ListTasks finds it in its offer’s context, and names task and context', async () => {
    const payer = await service.chain.newWallet();
    const offer = await offered('By x402');
    const id = await buy(offer, { metadata: await metadataFor(offer, payer) });
    const signed = await payerHeader(service, payer);
    const mine = [{ id, contextId: offer.contextId }];
    expect(await contexts(signed)).toEqual(mine);
    expect(await contexts(signed, { contextId: offer.contextId })).toEqual(mine);
    expect(await contexts(signed, { contextId: `a2a_${'0'.repeat(40)}` })).toEqual([]);
    expect((await rpc<TaskAnswer>(service, 'GetTask', { id }, signed)).body.result.contextId).toBe(offer.contextId);
    // Other callers do not see that the task belongs to an offer.
    expect((await rpc<TaskAnswer>(service, 'GetTask', { id })).body.result.contextId).toBe(id);
    const other = await payerHeader(service, await service.chain.newWallet());
    expect(await contexts(other, { contextId: offer.contextId })).toEqual([]);
  });

  it('a message that goes on in that context is listed beside it', async () => {
    const payer = await service.chain.newWallet();
    const offer = await offered('The first');
    const first = await buy(offer, { metadata: await metadataFor(offer, payer) });
    const next = await offered('The second', { contextId: offer.contextId });
    const second = await buy(next, { metadata: await metadataFor(next, payer) });
    const listed = await contexts(await payerHeader(service, payer), { contextId: offer.contextId });
    expect(listed).toEqual([second, first].map(id => ({ id, contextId: offer.contextId })));
  });

  it('bought by key: ListTasks finds it in its offer’s context', async () => {
    const offer = await offered('By key');
    const id = await buy(offer, {}, { ...ACTIVE, ...KEY });
    expect(await contexts(KEY, { contextId: offer.contextId })).toEqual([{ id, contextId: offer.contextId }]);
  });

  it('canceled while it was worked for: ListTasks finds that in its offer’s context, too', async () => {
    const payer = await service.chain.newWallet();
    const before = service.gates.alpha.held();
    service.gates.alpha.hold();
    const offer = await offered('', { parts: [{ data: { model: 'alpha-1' } }, { text: 'Never mind' }] });
    const metadata = await metadataFor(offer, payer);
    const paying = rpc(service, 'SendMessage', rawMessage('Pay', { taskId: offer.id, metadata }), ACTIVE);
    await expect.poll(() => service.gates.alpha.held()).toBe(before + 1);
    const signed = await payerHeader(service, payer);
    const canceled = await rpc<TaskAnswer>(service, 'CancelTask', { id: offer.id }, signed);
    expect(canceled.body.result).toMatchObject({ id: offer.id, status: { state: 'TASK_STATE_CANCELED' } });
    service.gates.alpha.open();
    await paying;
    const listed = await contexts(signed, { contextId: offer.contextId, status: 'TASK_STATE_CANCELED' });
    expect(listed).toEqual([{ id: expect.stringMatching(/^task_/), contextId: offer.contextId }]);
  });

  it('with an intent: that is its context', async () => {
    const payer = await service.chain.newWallet();
    const offer = await offered('Of a bill', { contextId: 'a-bill' });
    const id = await buy(offer, { metadata: await metadataFor(offer, payer) });
    const signed = await payerHeader(service, payer);
    expect(await contexts(signed, { contextId: 'a-bill' })).toEqual([{ id, contextId: 'a-bill' }]);
    expect(await contexts(signed)).toEqual([{ id, contextId: 'a-bill' }]);
  });
});
