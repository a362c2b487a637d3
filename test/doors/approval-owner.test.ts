import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { approvalDoorsOf } from '../harness/doors/approvals.ts';
import { makePayment, submitElsewhere } from '../harness/doors/make-payment.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';
import { type DelegatedSession, delegate, headerOf, nowSeconds, signAct } from '../harness/session/delegate.ts';
import { newKey } from '../harness/session/trees.ts';
import { openReceiver } from '../harness/webhook/receiver.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ NODE_ENV: 'test' });
});

const { newest, cautious, callToApprove, decide, shown } = approvalDoorsOf(() => service);
const { putForApprovals, redeliver } = webhookDoorsOf(() => service);
type Payment = Readonly<Record<string, string>>;

/** Sessions of another wallet: it granted a key, and one of its payments bound the session. */
async function strangersTree() {
  const wallet = await service.chain.newWallet();
  const root = await delegate(wallet, wallet, newKey());
  expect((await service.buy(wallet, ask('Binds'), root.headers)).status).toBe(200);
  return { wallet, root };
}

const under = ({ delegation_hash, grant }: DelegatedSession) => ({
  parentDelegationHash: delegation_hash,
  capAtomic: '500000',
  validAfter: grant.validAfter,
  sessionExpiry: grant.sessionExpiry,
});

/** Headers with the grant and an act `pay` for that payment. */
async function withAct(session: DelegatedSession, payment: Payment) {
  const [header = ''] = Object.values(payment);
  const { nonce: payment_id } = JSON.parse(Buffer.from(header, 'base64').toString()).payload.authorization;
  const asking = { action: 'pay', resource: `payment/${payment_id}`, deadline: nowSeconds() + 290 };
  const { nonce, deadline, signature } = (await signAct(session, asking)) as unknown as JsonObject;
  return headerOf({ grant: session.grant, signature: session.signature, act: { nonce, deadline, signature } as never });
}

describe('a tree that another wallet than the book’s has granted', () => {
  it('403 with an act `pay` of a session of it, and 404 for an act `approve`', async () => {
    const agent = await cautious();
    const { root } = await strangersTree();
    const child = await delegate(root.agent, agent.account, newKey(), under(root));
    const { payment, request, send } = await callToApprove(agent, 'Of a tree of its own', child.headers);
    const beside = { ...(payment as unknown as Payment), ...(await withAct(child, payment as unknown as Payment)) };
    expect(await service.post(CHAT, ask('Of a tree of its own'), beside)).toMatchObject({
      status: 403,
      body: { code: 'approval_ttl_expired', charged: false },
    });
    const act = await signAct(root, { action: 'approve', resource: `call/${request.request_hash}` });
    expect((await service.post(`/v1/sessions/${root.delegation_hash}/act`, act)).status).toBe(404);
    expect((await newest(agent)).status).toBe('open');
    expect((await send()).status).toBe(403);
  });

  it('403 with an act `pay` of its root, where its wallet pays onto the book by X-SVC-Session', async () => {
    const agent = await cautious();
    const other = await service.chain.newWallet();
    const root = await delegate(other, other, newKey());
    const payment = (await service.payment(other, CHAT)) as unknown as Payment;
    const headers = { ...payment, ...shown(agent), ...(await withAct(root, payment)) };
    expect((await service.post(CHAT, ask('Onto a book'), headers)).status).toBe(403);
  });
});

describe('a tree that the wallet of the book has granted', () => {
  it('200 with an act `pay`; 403 with one once a person has denied that very call', async () => {
    const agent = await cautious();
    const root = await delegate(agent.account, agent.account, newKey());
    const first = (await service.payment(agent.account, CHAT)) as unknown as Payment;
    const headers = { ...first, ...(await withAct(root, first)) };
    expect((await service.post(CHAT, ask('Its own'), headers)).status).toBe(200);
    const { payment, request } = await callToApprove(agent, 'Denied', root.headers);
    await decide(agent, request, 'deny');
    const stillDenied = async (sent: Payment) => {
      const denied = await service.post(CHAT, ask('Denied'), { ...sent, ...(await withAct(root, sent)) });
      expect(denied).toMatchObject({ status: 403, body: { code: 'approval_ttl_expired', charged: false } });
    };
    for (const sent of [payment, await service.payment(agent.account, CHAT)] as unknown as Payment[])
      await stillDenied(sent);
    // Moves the request into the past, long after it could have been answered.
    await service.query(
      `update approval_request set open_until = open_until - interval '1 hour', decided_at = decided_at - interval '1 hour'
        where approval_id = '${request.approval_id}'`,
    );
    await stillDenied((await service.payment(agent.account, CHAT)) as unknown as Payment);
    expect((await newest(agent)).approval_id).toBe(request.approval_id);
  });

  it('401 act_signature_invalid where the act is another key’s, also by a payment that was refused before', async () => {
    const agent = await cautious();
    const root = await delegate(agent.account, agent.account, newKey());
    const { payment } = await callToApprove(agent, 'Signed by another', root.headers);
    for (const sent of [payment, await service.payment(agent.account, CHAT)] as unknown as Payment[]) {
      const forged = await withAct({ ...root, agent: newKey() }, sent);
      expect(await service.post(CHAT, ask('Signed by another'), { ...sent, ...forged })).toMatchObject({
        status: 401,
        body: { code: 'act_signature_invalid', charged: false },
      });
    }
    const signed = await withAct(root, payment as unknown as Payment);
    expect((await service.post(CHAT, ask('Signed by another'), { ...payment, ...signed })).status).toBe(200);
  });

  it('200 where its payer has put the payment on the chain itself, denied or not: it cannot be sent back', async () => {
    const agent = await cautious();
    const made = await makePayment(service, agent.account);
    expect((await service.post(CHAT, ask('Sent by itself'), made.headers)).status).toBe(403);
    await decide(agent, await newest(agent), 'deny');
    expect((await service.post(CHAT, ask('Sent by itself'), made.headers)).status).toBe(403);
    await submitElsewhere(service, made);
    expect((await service.post(CHAT, ask('Sent by itself'), made.headers)).status).toBe(200);
  });
});

describe('a webhook that was changed after a call was asked about', () => {
  it('is told of the request by a redelivery, without a link', async () => {
    const agent = await cautious();
    const owners = await openReceiver();
    await putForApprovals(agent, `${owners.url}/in`);
    await callToApprove(agent, 'Linked');
    const [first] = await owners.untilMessages(1);
    expect(first?.body).toHaveProperty('approval_link');
    const mine = await openReceiver();
    expect((await putForApprovals(agent, `${mine.url}/in`)).status).toBe(200);
    expect((await redeliver(agent, 1, 50)).status).toBe(202);
    const [again] = await mine.untilMessages(1);
    expect(again?.body).toMatchObject({ kind: 'approval', event: { body: { status: 'open' } } });
    expect(again?.body).not.toHaveProperty('approval_link');
  });
});
