import { beforeAll, describe, expect, it } from 'vitest';
import { camel, toSnakeKeys } from '../../schema/camel.ts';
import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import { ReceiptPayloadNoun } from '../../schema/receipt-shapes.ts';
import { ask, CHAT, type Chat, type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const PAYLOAD = `schema payloadVersion taskId issuedAt hub model jobKind requestHash
  callerBinding { payerWallet agentPubkey apiKeyHash }
  fulfillment { intent { jobKind resource intentId attemptIndex }
    authorization { payerWallet delegationHash paymentRef } outputCommitment { status hash kind omissionRule by covers } }
  tolerance { amountAtomic clockSeconds } issuerHistory { hash version seq } receiptPolicy { hash version } claimId bookId paymentRef
  payment { ref transferIndex network rail asset grossAmount settledAmount payer pay_to: payTo paymentId }
  settlementBasis waivedBy intentId attemptIndex answeredModel answeredCatalogueModel vendorBlind providerCogs { actual usdMark } profile`;

interface Answer {
  readonly data: { readonly receipt: { readonly preimage: string; readonly payload: JsonObject } };
}

/** A payload of the graph as it is signed. Nulls of the fulfillment are signed; any other null member is not in the payload. */
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

describe('the lane of a receipt', () => {
  const LANE = `anchorChangedSinceBinding freeze unverifiableFromRegistry
    localCheck { network chain asset payee amount } binding { inProof }`;

  it('is the same by GraphQL, REST and in the answer, and follows the log', async () => {
    const account = await service.chain.newWallet();
    const { svc } = (await service.buy(account, ask('Lane'))).body;
    const { lane, members } = await laneOf(svc.task_id);
    expect(members).toEqual(toSnakeKeys(lane));
    expect(svc).toMatchObject({ ...members, anchor_changed_since_binding: false });
    expect(members).toMatchObject({
      anchor_changed_since_binding: false,
      freeze: false,
      unverifiable_from_registry: false,
      local_check: { network: 'base', payee: service.pay_to, amount: '2000' },
      binding: { in_proof: false },
    });
    await service.buy(account, ask('Another'));
    const since = await laneOf(svc.task_id);
    expect(since.members).toEqual({ ...members, anchor_changed_since_binding: true });
    expect(toSnakeKeys(since.lane)).toEqual(since.members);
  });

  async function laneOf(task_id: string) {
    const query = `{ receipt(taskId: "${task_id}") { ${LANE} } }`;
    const { data } = (await service.post<{ data: { receipt: JsonObject } }>('/graphql', { query })).body;
    const { body } = await service.get(`/receipt/${task_id}`);
    const { anchor_changed_since_binding, freeze, unverifiable_from_registry, local_check, binding } = body;
    const members = { anchor_changed_since_binding, freeze, unverifiable_from_registry, local_check, binding };
    return { lane: data.receipt, members };
  }
});

describe('Receipt.payload', () => {
  it('has every member that REST describes, those of lanes without a payment of ours, too', async () => {
    const query = '{ __type(name: "ReceiptPayload") { fields { name } } }';
    const { body } = await service.post<{ data: { __type: { fields: { name: string }[] } } }>('/graphql', { query });
    const fields = body.data.__type.fields.map(({ name }) => name);
    // The member that old receipts sign as settled_by is settlementBasis on the graph.
    const members = Object.keys(ReceiptPayloadNoun.shape).filter(name => name !== 'settled_by');
    expect(fields.sort()).toEqual(members.map(camel).sort());
  });

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
