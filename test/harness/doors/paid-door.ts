import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import { payingFetch, type Wallet } from '../buyer.ts';
import type { ChallengeBody, ReceiptBody, Service } from './open-service.ts';
import { identifiedPayment, newIdentifier } from './payment-identifiers.ts';
import { policyDoorsOf } from './policies.ts';

/** A paid endpoint, with what a test of the behaviour common to all of them needs. */
export interface PaidDoor {
  readonly path: string;
  readonly job_kind: string;
  /** A valid request of that wallet. Requests with different names are different requests. */
  body(account: Wallet, name: string): JsonObject;
  /** Encodes a body as it is sent. Default: as JSON. */
  readonly sent?: (members: JsonObject) => unknown;
  /** A body that is larger than the endpoint reads. */
  readonly oversized?: () => unknown;
  /** Invalid members, each with the parameter that its refusal names. */
  readonly wrong: readonly (readonly [param: string, members: JsonObject])[];
}

interface Answer extends JsonObject {
  readonly svc: ReceiptBody;
}

/** One test for each status that every paid endpoint can answer. What an answer contains is checked by the tests of each endpoint. */
export function testPaidDoor(opened: () => Service, { path, job_kind, body, wrong, ...door }: PaidDoor): void {
  const { sent: formed = members => members, oversized = overlong } = door;
  const good = (account: Wallet, name: string) => formed(body(account, name));
  const visit = async () => {
    const service = opened();
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, path);
    const send = (name: string, headers: Record<string, string> = payment) =>
      service.post<Answer>(path, good(payer, name), headers);
    const paid = async () => (await service.transfersFrom(payer)).length;
    return { service, payer, payment, send, paid };
  };

  describe(`POST ${path}, as any paid door`, () => {
    it.each<[string, string, string | undefined]>([
      ['GET', 'GET', undefined],
      ['an empty POST', 'POST', undefined],
      ['an empty object', 'POST', '{}'],
      ['a junk body', 'POST', '{{{'],
    ])('402 unpaid, on %s: v2 in the header, v1 in the body, both of this door', async (_, method, sent) => {
      const service = opened();
      const heard = await service.knock<ChallengeBody>(method, path, sent === undefined ? {} : { body: sent });
      expect(heard).toMatchObject({ status: 402, body: { x402Version: 1 } });
      expect(heard.body.accepts).toContainEqual(
        expect.objectContaining({ network: 'base', maxAmountRequired: '2000', resource: service.url + path }),
      );
      expect(decodePaymentRequiredHeader(heard.headers.get('PAYMENT-REQUIRED') ?? '')).toMatchObject({
        x402Version: 2,
        resource: { url: service.url + path },
      });
    });

    it.each(wrong)('400 on a bad %s: the payment stays usable, and then buys', async (param, members) => {
      const { service, payer, payment, send, paid } = await visit();
      const bad = { ...body(payer, 'Bad'), ...members };
      expect(await service.post(path, formed(bad), payment)).toMatchObject({ status: 400, body: { error: { param } } });
      expect((await send('Good')).status).toBe(200);
      expect(await paid()).toBe(1);
    });

    it('400 on a payment header that cannot be read', async () => {
      const { send } = await visit();
      const heard = await send('Hello', { 'PAYMENT-SIGNATURE': '???' });
      expect(heard).toMatchObject({ status: 400, body: { code: 'invalid_payment' } });
    });

    it('402 where the payer has nothing', async () => {
      const { service, paid } = await visit();
      const poor = await service.chain.newWallet(0n);
      const heard = await service.post(path, good(poor, 'Hello'), await service.payment(poor, path));
      expect(heard).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } });
      expect(await paid()).toBe(0);
    });

    it('403 with a wrong session: empty, nothing is charged', async () => {
      const { payment, send, paid } = await visit();
      const heard = await send('Hello', { ...payment, 'X-SVC-Session': 'guess' });
      expect({ status: heard.status, text: heard.text }).toEqual({ status: 403, text: '' });
      expect(await paid()).toBe(0);
    });

    it("403 under the book's kill switch: the signed refusal, nothing is charged", async () => {
      const service = opened();
      const agent = await policyDoorsOf(service).newBlockedAgent();
      const payment = await service.payment(agent.account, path);
      const refused = await service.post<JsonObject>(path, good(agent.account, 'Hello'), payment);
      expect(refused).toMatchObject({ status: 403, body: { code: 'policy_blocked', charged: false } });
      expect(await service.transfersFrom(agent.account)).toHaveLength(1);
      const stands = await service.get(`/task-status?task_id=${refused.body.task_id}`);
      expect(stands.body).toMatchObject({ status: 'refused', proof_outcome: 'none', payment_ref: null });
    });

    it('409 where the payment has bought something else', async () => {
      const { send, paid } = await visit();
      expect((await send('One')).status).toBe(200);
      expect(await send('Another')).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
      expect(await paid()).toBe(1);
    });

    it('410 once the answer is kept no longer; the receipt stands', async () => {
      const { service, send } = await visit();
      const { svc } = (await send('Forgotten')).body;
      const forget = `update payment_claim set answer_box = null, request_box = '' where task_id = $1`;
      await service.query(forget, [svc.task_id]);
      expect(await send('Forgotten')).toMatchObject({ status: 410, body: { verify_url: svc.verify_url } });
    });

    it.each<[string, number, () => unknown, Record<string, string>]>([
      ['413 on a body that is too large', 413, oversized, {}],
      ['415 on another form', 415, () => 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    ])('%s: the payment stays usable', async (_, status, sent, typed) => {
      const { service, payment, send, paid } = await visit();
      expect((await service.post(path, sent(), { ...payment, ...typed })).status).toBe(status);
      expect((await send('Hello')).status).toBe(200);
      expect(await paid()).toBe(1);
    });

    it('200 idempotent_replay to the same payment: the same answer, one transfer', async () => {
      const { send, paid } = await visit();
      const first = await send('Hello');
      expect(first.headers.get('x-svc-settlement-status')).toBe('settled');
      const again = await send('Hello');
      expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
      const svc = { ...first.body.svc, settlement_status: 'idempotent_replay' };
      expect(again.body).toEqual({ ...first.body, svc });
      expect(await paid()).toBe(1);
    });

    it('200 idempotent_replay under the same identifier: another authorization, one transfer; 409 to another request', async () => {
      const { service, payer, send, paid } = await visit();
      const id = newIdentifier();
      const once = async (name: string) => send(name, (await identifiedPayment(service, payer, id)).headers);
      const first = await once('Hello');
      expect(first.headers.get('x-svc-settlement-status')).toBe('settled');
      const again = await once('Hello');
      expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
      expect(again.body.svc.issuer_signature).toEqual(first.body.svc.issuer_signature);
      expect(await once('Another')).toMatchObject({ status: 409, body: { code: 'payment_identifier_conflict' } });
      const stands = (await service.get(`/v1/settlements/${id}`)).body;
      expect(stands).toMatchObject({ state: 'settled', task_id: first.body.svc.task_id });
      expect(await paid()).toBe(1);
    });

    it('200 with a session: headers, receipt and the row say job kind and intent', async () => {
      const service = opened();
      const agent = await service.newAgent();
      const sent = good(agent.account, 'Recorded');
      const headers = { 'X-SVC-Session': agent.session, 'X-SVC-Intent': 'intent-1', 'X-SVC-Attempt': '3' };
      const by = payingFetch(agent.account);
      const heard = await service.knock<Answer>('POST', path, { body: sent, headers, by });
      expect(heard.status).toBe(200);
      const { svc } = heard.body;
      expect(heard.headers.get('x-svc-task-id')).toBe(svc.task_id);
      expect(heard.headers.get('x-svc-payload-hash')).toBe(svc.payload_hash);
      expect(decodePaymentResponseHeader(heard.headers.get('PAYMENT-RESPONSE') ?? '')).toMatchObject({
        success: true,
        transaction: svc.payment_ref.replace('base:', ''),
      });
      const intent = { job_kind, intent_id: 'intent-1', attempt_index: 3 };
      expect(svc).toMatchObject({ claim_id: agent.agent_id, payload: { job_kind, fulfillment: { intent } } });
      const [row] = (await policyDoorsOf(service).bookOf(agent)).entries;
      expect(row).toMatchObject({
        task_id: svc.task_id,
        evidence: 'collected',
        payment: { ref: svc.payment_ref, amount: '2000' },
        intent_id: 'intent-1',
        attempt_index: 3,
        fulfillment: intent,
      });
    });

    it('200 following from a row of its own book: the row says so, and no receipt', async () => {
      const service = opened();
      const agent = await service.newAgent();
      const headers = { 'X-SVC-Parent': agent.task_id };
      const sent = good(agent.account, 'Child');
      const heard = await service.knock<Answer>('POST', path, { body: sent, headers, by: payingFetch(agent.account) });
      expect(heard.status).toBe(200);
      expect(heard.text).not.toContain('parent');
      const [row] = (await policyDoorsOf(service).bookOf(agent)).entries;
      expect(row).toMatchObject({ task_id: heard.body.svc.task_id, evidence: 'collected', parent_ref: agent.task_id });
    });

    it("403 following from another's row or from none, alike: nothing is claimed, and the payment then buys", async () => {
      const service = opened();
      const [agent, other] = [await service.newAgent(), await service.newAgent()];
      const payment = await service.payment(agent.account, path);
      const send = (parent: Record<string, string>) =>
        service.post<Answer>(path, good(agent.account, 'Child'), { ...payment, ...parent });
      const foreign = await send({ 'X-SVC-Parent': other.task_id });
      expect(foreign).toMatchObject({ status: 403, body: { code: 'parent_not_on_book', charged: false } });
      expect((await send({ 'X-SVC-Parent': 'task_of_nobody' })).text).toBe(foreign.text);
      expect(await service.claimsOf(agent.account)).toHaveLength(1);
      expect(await service.transfersFrom(agent.account)).toHaveLength(1);
      expect((await send({ 'X-SVC-Parent': agent.task_id })).status).toBe(200);
    });

    it('200 idempotent_replay by a live key under the same Idempotency-Key, worked for once; 409 to another request', async () => {
      const { send } = await visit();
      const headers = { 'X-API-Key': 'a-live-key', 'Idempotency-Key': newIdentifier() };
      const first = await send('By key', headers);
      const again = await send('By key', headers);
      expect([first.status, again.status]).toEqual([200, 200]);
      expect(first.headers.get('x-svc-settlement-status')).toBe('waived');
      const svc = { ...first.body.svc, settlement_status: 'idempotent_replay' };
      expect(again.body).toEqual({ ...first.body, svc });
      expect(await send('Another', headers)).toMatchObject({ status: 409, body: { code: 'idempotency_key_conflict' } });
    });

    it('200 with a live key and a session: a row that nobody paid for, with the same job kind and intent', async () => {
      const service = opened();
      const agent = await service.newAgent();
      const intent_of = { 'X-SVC-Intent': 'intent-1', 'X-SVC-Attempt': '3' };
      const headers = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session, ...intent_of };
      const { status, body } = await service.post<Answer>(path, good(agent.account, 'By key'), headers);
      expect(status).toBe(200);
      const intent = { job_kind, intent_id: 'intent-1', attempt_index: 3 };
      expect(body.svc).toMatchObject({ claim_id: agent.agent_id, payment_ref: null, waived_by: 'live_key' });
      expect(body.svc).toMatchObject({ settlement_status: 'waived', payload: { job_kind, fulfillment: { intent } } });
      const [row] = (await policyDoorsOf(service).bookOf(agent)).entries;
      const unpaid = { evidence: 'UNVERIFIED', payment: { ref: null, rail: null, amount: null } };
      expect(row).toMatchObject({ task_id: body.svc.task_id, ...unpaid, intent_id: 'intent-1', fulfillment: intent });
      expect(await service.transfersFrom(agent.account)).toHaveLength(1);
    });
  });
}

const overlong = () => `{"filler":"${'x'.repeat(limits.request_bytes_max)}"}`;
