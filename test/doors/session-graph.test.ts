import { beforeAll, describe, expect, it } from 'vitest';
import { toCamelKeys } from '../../schema/camel.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { hex32, nowSeconds, signAct, signRevocation } from '../harness/session/delegate.ts';
import { type BoundSession, bindRoot, newKey, revoke, sessionPath } from '../harness/session/trees.ts';

/* The operations of the session endpoints on the graph have the same answers and codes. */

let service: Service;
let owner: Awaited<ReturnType<Service['newAgent']>>;
let bound: BoundSession;
let over: BoundSession;
beforeAll(async () => {
  service = await sharedService();
  owner = await service.newAgent();
  bound = await bindRoot(service, owner.account);
  over = await bindRoot(service, owner.account);
  await revoke(service, owner.account, over);
});

const nobody = { delegation_hash: hex32() };
type SessionName = Pick<BoundSession, 'delegation_hash'>;
type GraphResult = { readonly answer: JsonObject } | { readonly code: unknown; readonly status: unknown };

async function queryAnswer(query: string, variables: JsonObject): Promise<GraphResult> {
  const { data, refused } = await onGraph(service, query, variables);
  return refused ? refusedBy(Number(refused.status), refused) : { answer: data?.answer as JsonObject };
}

/** A refusal. If the book refused, it contains the signed document. */
function refusedBy(status: number, { code, schema, charged }: JsonObject): GraphResult {
  return { code, status, ...(schema !== undefined && { schema, charged }) };
}

async function atDoor({ delegation_hash }: SessionName, verb: string, sent: object): Promise<GraphResult> {
  const { status, body } = await service.post<JsonObject>(sessionPath(delegation_hash, verb), sent);
  return status === 200 ? { answer: body } : refusedBy(status, body);
}

const challenge = ({ delegation_hash }: SessionName, ttl_seconds?: number) =>
  queryAnswer(
    `query ($hash: String!, $ttl: Int) { answer: sessionChallenge(delegationHash: $hash, ttlSeconds: $ttl) {
      challenge_id: challengeId nonce issued_at: issuedAt deadline typed_data: typedData } }`,
    { hash: delegation_hash, ...(ttl_seconds === undefined ? {} : { ttl: ttl_seconds }) },
  );
const actOn = ({ delegation_hash }: SessionName, body: object) =>
  queryAnswer(
    `mutation ($hash: String!, $input: SessionActInput!) { answer: actInSession(delegationHash: $hash, input: $input) {
      action resource delegation_hash: delegationHash read
      receipt: handedOff { task_id: taskId verify_url: verifyUrl parent_receipt_id: parentReceiptId target_agent: targetAgent }
      redeemed { task_id: taskId agent_id: agentId }
      approved { approval_id: approvalId agent_id: agentId request_hash: requestHash } } }`,
    { hash: delegation_hash, input: toCamelKeys(body) as JsonObject },
  );
const revokeOn = ({ delegation_hash }: SessionName, signed: { readonly at: number; readonly signature: string }) =>
  queryAnswer(
    `mutation ($hash: String!, $at: Int!, $signature: String!) {
      answer: revokeSession(delegationHash: $hash, at: $at, signature: $signature) {
        delegation_hash: delegationHash status payer at signature revoked_at: revokedAt } }`,
    { hash: delegation_hash, ...signed },
  );

describe('sessionChallenge', () => {
  it('answers as the door does, for as long as it is asked for', async () => {
    const [graph, door] = [await challenge(bound, 120), await atDoor(bound, 'challenge', { ttl_seconds: 120 })];
    const same = (heard: GraphResult) => {
      const { issued_at, deadline, typed_data, ...rest } = (heard as { answer: JsonObject }).answer;
      return { lasts: Number(deadline) - Number(issued_at), typed_data, members: Object.keys(rest).sort() };
    };
    expect(same(graph)).toEqual(same(door));
    expect(same(graph)).toMatchObject({ lasts: 120, members: ['challenge_id', 'nonce'] });
    expect(same(await challenge(bound))).toMatchObject({ lasts: 300 });
  });

  it.each([
    ['invalid_request', 400, () => bound, 119],
    ['not_found', 404, () => nobody, 120],
    ['session_not_active', 403, () => over, 120],
  ] as const)('is refused as at the door: %s %i', async (code, status, session, ttl_seconds) => {
    expect(await challenge(session(), ttl_seconds)).toEqual({ code, status });
    expect(await atDoor(session(), 'challenge', { ttl_seconds })).toEqual({ code, status });
  });
});

describe('actInSession', () => {
  it('reads by a challenge of the graph, and shows what the door shows', async () => {
    const { answer } = (await challenge(bound)) as {
      answer: { challenge_id: string; nonce: string; deadline: number };
    };
    const { challenge_id, nonce, deadline } = answer;
    const read = { action: 'read_private', resource: 'book' } as const;
    const shown = await actOn(bound, await signAct(bound, { ...read, challenge_id, nonce, deadline }));
    expect(shown).toMatchObject({ answer: { read: { entries: [{ task_id: bound.task_id }] } } });
    expect(shown).toEqual(await atDoor(bound, 'act', await signAct(bound, read)));
  });

  it('hands off, redeems and closes once, whichever of the two is asked', async () => {
    const target = await service.newAgent();
    const session = await bindRoot(service, owner.account);
    const resource = `receipt/${session.task_id}`;
    const handOff = () => signAct(session, { action: 'handoff', resource, target_agent: target.agent_id });
    expect(await actOn(session, await handOff())).toMatchObject({
      answer: {
        resource,
        receipt: { parent_receipt_id: session.task_id, target_agent: target.agent_id },
        redeemed: null,
      },
    });
    const twice = { code: 'already_handed_off', status: 409 };
    expect(await actOn(session, await handOff())).toEqual(twice);
    expect(await atDoor(session, 'act', await handOff())).toEqual(twice);
    const redeem = () => signAct(session, { action: 'redeem', resource });
    expect(await actOn(session, await redeem())).toMatchObject({ answer: { redeemed: { task_id: session.task_id } } });
    const closed = { code: 'claim_already_settled', status: 409 };
    expect(await actOn(session, await redeem())).toEqual(closed);
    expect(await atDoor(session, 'act', await redeem())).toEqual(closed);
  });

  it('takes a nonce once, of both together', async () => {
    const act = await signAct(bound, { action: 'read_private', resource: 'book' });
    expect(await atDoor(bound, 'act', act)).toMatchObject({ answer: {} });
    expect(await actOn(bound, act)).toEqual({ code: 'act_nonce_used', status: 409 });
  });

  const read = { action: 'read_private', resource: 'book' };
  it.each([
    ['invalid_request', 400, () => signAct(bound, { ...read, action: 'approves' })],
    ['payload_mismatch', 400, async () => ({ ...(await signAct(bound, read)), payload_hash: hex32() })],
    ['act_signature_invalid', 401, async () => ({ ...(await signAct(bound, read)), resource: 'book/export' })],
    ['act_expired', 401, () => signAct(bound, { ...read, deadline: nowSeconds() - 1 })],
    ['not_found', 404, () => signAct(bound, { ...read, resource: `receipt/${owner.task_id}` })],
  ] as const)('is refused as at the door: %s %i', async (code, status, act) => {
    expect(await actOn(bound, await act())).toEqual({ code, status });
    expect(await atDoor(bound, 'act', await act())).toEqual({ code, status });
  });

  it('is refused as at the door: session_not_active 403, not_found 404 for no session, approval_ttl_expired 403', async () => {
    const agent = await service.newAgent();
    const risky = await bindRoot(service, agent.account);
    const policy = { policy_type: 'risk_tiers', value: { high: ['read_private'], low: [] } };
    await service.post(`/v1/agents/${agent.agent_id}/book/policy`, policy, { 'X-SVC-Session': agent.session });
    const document = { schema: 'svc402.refusal.v1', charged: false };
    for (const [session, refused] of [
      [over, { code: 'session_not_active', status: 403 }],
      [
        { ...bound, ...nobody },
        { code: 'not_found', status: 404 },
      ],
      [risky, { code: 'approval_ttl_expired', status: 403, ...document }],
    ] as const) {
      expect(await actOn(session, await signAct(session, read))).toEqual(refused);
      expect(await atDoor(session, 'act', await signAct(session, read))).toEqual(refused);
    }
  });
});

describe('revokeSession', () => {
  it('ends a session as the door does; said again, at either, it is the first that stands', async () => {
    const session = await bindRoot(service, owner.account);
    const signed = await signRevocation(owner.account, session.delegation_hash);
    const first = await revokeOn(session, signed);
    expect(first).toMatchObject({ answer: { status: 'revoked', payer: owner.account.address, ...signed } });
    const later = await signRevocation(owner.account, session.delegation_hash, signed.at - 1);
    expect(await revokeOn(session, later)).toEqual(first);
    expect(await atDoor(session, 'revoke', later)).toEqual(first);
    expect((await service.get(sessionPath(session.delegation_hash))).body).toMatchObject({ status: 'revoked' });
  });

  it.each([
    ['revocation_invalid', 400, () => bound, () => signRevocation(newKey(), bound.delegation_hash)],
    ['revocation_invalid', 400, () => bound, () => signRevocation(owner.account, bound.delegation_hash, 1)],
    ['not_found', 404, () => nobody, () => signRevocation(owner.account, nobody.delegation_hash)],
  ] as const)('is refused as at the door: %s %i', async (code, status, session, sign) => {
    expect(await revokeOn(session(), await sign())).toEqual({ code, status });
    expect(await atDoor(session(), 'revoke', await sign())).toEqual({ code, status });
    expect((await service.get(sessionPath(bound.delegation_hash))).body).toMatchObject({ status: 'active' });
  });
});
