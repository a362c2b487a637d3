import { beforeAll, describe, expect, it } from 'vitest';
import { toSnakeKeys } from '../../schema/camel.ts';
import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService();
});

const PAYLOAD = `schema payloadVersion taskId issuedAt hub model jobKind requestHash
  callerBinding { payerWallet agentPubkey apiKeyHash }
  fulfillment { intent { jobKind resource intentId attemptIndex }
    authorization { payerWallet delegationHash paymentRef } outputCommitment { status hash kind omissionRule } }
  tolerance { amountAtomic clockSeconds } issuerHistory { hash version seq } receiptPolicy { hash version } claimId
  payment { ref transferIndex network rail asset grossAmount settledAmount payer pay_to: payTo paymentId }
  settlementBasis waivedBy intentId attemptIndex vendorBlind providerCogs { actual usdMark } profile`;

interface Answer {
  readonly data: { readonly receipt: { readonly preimage: string; readonly payload: JsonObject } };
}

/** A null of the fulfillment is signed as such; anywhere else a member that does not apply is not there. */
function asSigned(payload: JsonObject): unknown {
  const there = (members: JsonObject) => Object.fromEntries(Object.entries(members).filter(([, it]) => it !== null));
  const { callerBinding, ...members } = there(payload);
  return toSnakeKeys({ ...members, callerBinding: there(callerBinding as JsonObject) });
}

async function payloadOf(headers: Record<string, string>, body: Json): Promise<Answer['data']['receipt']> {
  const { svc } = (await service.post<Chat>(CHAT, body, headers)).body;
  const query = `{ receipt(taskId: "${svc.task_id}") { preimage payload { ${PAYLOAD} } } }`;
  return (await service.post<Answer>('/graphql', { query })).body.data.receipt;
}

describe('Receipt.payload', () => {
  it('says member by member what is signed of a payment', async () => {
    const agent = await service.newAgent();
    const body = ask('Typed', { intent_id: 'bill', attempt_index: 1 });
    const { preimage, payload } = await payloadOf(await service.payment(agent.account, CHAT), body);
    expect(payload).toMatchObject({
      settlementBasis: 'observed_transfer',
      payment: { grossAmount: '2000' },
      waivedBy: null,
    });
    expect(asSigned(payload)).toEqual(JSON.parse(preimage));
  });

  it('says member by member what is signed where a key stood in', async () => {
    const { preimage, payload } = await payloadOf({ 'X-API-Key': 'a-live-key' }, ask('By key'));
    expect(payload).toMatchObject({ settlementBasis: null, payment: null, waivedBy: 'live_key' });
    expect(asSigned(payload)).toEqual(JSON.parse(preimage));
  });
});
