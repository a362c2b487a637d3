import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sessionLimits } from '../../schema/limits.ts';
import { ask, CHAT, openService, type Service, sharedService } from '../harness/doors/open-service.ts';
import { eventually } from '../harness/faults/ground.ts';
import { type DelegatedSession, delegate, nowSeconds, signRevocation } from '../harness/session/delegate.ts';
import { newKey } from '../harness/session/trees.ts';

/** Limit on calls under a grant that are not charged, for each payer and address. */
const TRIES = { RATE_UNCHARGED: '2/600' };

let service: Service;
beforeAll(async () => {
  service = await openService(TRIES);
});

/** Makes a call and resolves once the hub has it. The hub answers when the returned function is called. */
async function heldAtHub(call: () => ReturnType<Service['buy']>, { hubs } = service) {
  const hold = Promise.withResolvers<void>();
  for (const hub of hubs) hub.behave({ kind: 'answer', until: hold.promise });
  const hubCalls = () => hubs.reduce((sum, hub) => sum + hub.requests.length, 0);
  const before = hubCalls();
  const answer = call();
  await eventually('a hub at work', async () => hubCalls() > before || null);
  return async () => {
    hold.resolve();
    for (const hub of hubs) hub.behave({ kind: 'answer' });
    return answer;
  };
}

const revoke = async (payer: Parameters<typeof signRevocation>[0], { delegation_hash }: DelegatedSession) =>
  service.post(`/v1/sessions/${delegation_hash}/revoke`, await signRevocation(payer, delegation_hash));

describe('/v1/chat/completions under a session', () => {
  it('403 session_not_active where it is revoked while the hub works: nothing moves', async () => {
    const { account } = await service.newAgent();
    const session = await delegate(account, account, newKey());
    expect((await service.buy(account, ask('Bound'), session.headers)).status).toBe(200);
    const moved = (await service.transfersFrom(account)).length;
    const letGo = await heldAtHub(() => service.buy(account, ask('Too late'), session.headers));
    expect((await revoke(account, session)).status).toBe(200);
    expect(await letGo()).toMatchObject({
      status: 403,
      body: { code: 'session_not_active', session_status: 'revoked', charged: false },
    });
    expect(await service.transfersFrom(account)).toHaveLength(moved);
    const open = await service.query(
      `select 1 from payment_claim where state <> 'released' and landing->'delegation'->>'delegation_hash' = $1
        and state <> 'recorded'`,
      [session.delegation_hash],
    );
    expect(open).toHaveLength(0);
  });

  it('200 where it is revoked once its payment settles: the claim stands, and counts', async () => {
    const { account } = await service.newAgent();
    const session = await delegate(account, account, newKey());
    expect((await service.buy(account, ask('Bound'), session.headers)).status).toBe(200);
    await service.chain.setAutomine(false);
    try {
      const answer = service.buy(account, ask('Settling'), session.headers);
      const settling = `select 1 from payment_claim where state = 'settling' and payer = $1`;
      await eventually('the payment to settle', async () =>
        (await service.query(settling, [account.address])).length > 0 ? true : null,
      );
      expect((await revoke(account, session)).status).toBe(200);
      await service.chain.setAutomine(true);
      await service.chain.mine();
      expect(await answer).toMatchObject({ status: 200, body: { svc: { delegation_hash: session.delegation_hash } } });
    } finally {
      await service.chain.setAutomine(true);
    }
    const text = 'select spent_atomic::text as spent from delegation where delegation_hash = $1';
    expect(await service.query(text, [session.delegation_hash])).toEqual([{ spent: '4000' }]);
    expect((await service.get(`/v1/sessions/${session.delegation_hash}`)).body).toMatchObject({ status: 'revoked' });
  });

  it('403 session_cap_exceeded with each new grant that has no room, then 429, and none of them is kept', async () => {
    const { account } = await service.newAgent();
    const payment = await service.payment(account, CHAT);
    const heard: unknown[] = [];
    for (let n = 0; n < 4; n++) {
      const { headers } = await delegate(account, account, newKey(), { capAtomic: '1' });
      const { status, body } = await service.post<JsonObject>(CHAT, ask('Never'), { ...payment, ...headers });
      heard.push([status, body.code]);
    }
    expect(heard.slice(0, 2)).toEqual([
      [403, 'session_cap_exceeded'],
      [403, 'session_cap_exceeded'],
    ]);
    expect(heard.at(-1)).toEqual([429, 'rate_limited']);
    expect(await service.query('select 1 from delegation where payer = $1', [account.address])).toHaveLength(0);
  });

  it('403 session_cap_exceeded for calls at once that its cap has no room for beside each other, then 429', async () => {
    // A new service, because this address has used up its attempts at the other one.
    const fresh = await openService(TRIES);
    const { account } = await fresh.newAgent();
    const { headers } = await delegate(account, account, newKey(), { capAtomic: '4000' });
    expect((await fresh.buy(account, ask('Bound'), headers)).status).toBe(200);
    const letGo = await heldAtHub(() => fresh.buy(account, ask('Has the room'), headers), fresh);
    const heard: unknown[] = [];
    for (let n = 0; n < 3; n++) heard.push(await fresh.buy(account, ask(`Has none, ${n}`), headers));
    expect((await letGo()).status).toBe(200);
    const exceeded = { status: 403, body: { code: 'session_cap_exceeded' } };
    expect(heard).toMatchObject([exceeded, exceeded, { status: 429, body: { code: 'rate_limited' } }]);
  });
});

describe('a chain of sessions', () => {
  it('passes as deep as it may be, and is 400 delegation_invalid below', async () => {
    const roomy = await sharedService();
    const { account } = await roomy.newAgent();
    const life = { validAfter: nowSeconds() - 60, sessionExpiry: nowSeconds() + 3_600 };
    let last = await delegate(account, account, newKey(), life);
    for (let depth = 1; depth <= sessionLimits.depth_max; depth++) {
      expect((await roomy.buy(account, ask(`At depth ${depth}`), last.headers)).status).toBe(200);
      const parentDelegationHash = last.delegation_hash as `0x${string}`;
      last = await delegate(last.agent, account, newKey(), { ...life, parentDelegationHash });
    }
    expect(await roomy.buy(account, ask('Too deep'), last.headers)).toMatchObject({
      status: 400,
      body: { code: 'delegation_invalid', charged: false },
    });
  });
});
