import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sessionLimits } from '../../schema/session/session-limits.ts';
import { forgetUnboundRevocations } from '../../subgraphs/receipt/issuer/revoked-sessions.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { type Delegated, delegate, headerOf, signRevocation } from '../harness/session/delegate.ts';

/* A grant that came to others before its payer has ever paid under it. */

let service: Service;
beforeAll(async () => {
  service = await openService();
});

type Signer = Parameters<typeof signRevocation>[0];
const newKey = () => privateKeyToAccount(generatePrivateKey());
const revoke = async (signer: Signer, { delegation_hash }: Pick<Delegated, 'delegation_hash'>, headers = {}) =>
  service.post<JsonObject>(
    `/v1/sessions/${delegation_hash}/revoke`,
    await signRevocation(signer, delegation_hash),
    headers,
  );
const over = { status: 403, body: { code: 'session_not_active', session_status: 'revoked', charged: false } };
const listed = async () =>
  (await service.get<{ sessions: JsonObject[] }>('/.well-known/revocations')).body.sessions.map(
    it => it.delegation_hash,
  );

describe('POST /v1/sessions/{delegation_hash}/revoke of a grant that no payment has bound', () => {
  it('404 by its name alone; 200 with the grant beside it, again too: nothing is bought under it, and it is not listed', async () => {
    const { account } = await service.newAgent();
    const leaked = await delegate(account, account, newKey());
    expect((await revoke(account, leaked)).status).toBe(404);
    const first = await revoke(account, leaked, leaked.headers);
    expect(first).toMatchObject({ status: 200, body: { status: 'revoked', payer: account.address } });
    expect((await revoke(account, leaked, leaked.headers)).body).toEqual(first.body);
    expect(await service.buy(account, ask('Under it'), leaked.headers)).toMatchObject(over);
    expect(await service.transfersFrom(account)).toHaveLength(1);
    expect(await listed()).not.toContain(leaked.delegation_hash);
    // Another grant of the same payer is as good as ever.
    const other = await delegate(account, account, newKey());
    expect((await service.buy(account, ask('Under another'), other.headers)).status).toBe(200);
  });

  it('200 by the payer of the session over it', async () => {
    const { account } = await service.newAgent();
    const parent = await delegate(account, account, newKey());
    expect((await service.buy(account, ask('Binds the parent'), parent.headers)).status).toBe(200);
    const payer = await service.chain.newWallet();
    const { validAfter, sessionExpiry } = parent.grant;
    const child = await delegate(parent.agent, payer, newKey(), {
      parentDelegationHash: parent.delegation_hash as never,
      ...{ capAtomic: '5000', validAfter, sessionExpiry },
    });
    expect((await revoke(account, child, child.headers)).body).toMatchObject({ payer: account.address });
    expect(await service.buy(payer, ask('Under the child'), child.headers)).toMatchObject(over);
  });

  it('400 signed by anybody else, and by a payer who has bought nothing; 404 with another grant; 400 with none', async () => {
    const { account } = await service.newAgent();
    const leaked = await delegate(account, account, newKey());
    const invalid = { status: 400, body: { code: 'revocation_invalid' } };
    expect(await revoke(newKey(), leaked, leaked.headers)).toMatchObject(invalid);
    expect(await revoke(leaked.agent, leaked, leaked.headers)).toMatchObject(invalid);
    const nobody = newKey();
    const unpaid = await delegate(nobody, nobody, newKey());
    expect(await revoke(nobody, unpaid, unpaid.headers)).toMatchObject(invalid);
    // Whoever names themselves as the payer of another's grant has another grant.
    const other = await delegate(nobody, nobody, newKey(), { salt: leaked.grant.salt as never });
    expect((await revoke(account, leaked, other.headers)).status).toBe(404);
    const malformed = await revoke(account, leaked, headerOf({ grant: {}, signature: '0x00' }));
    expect(malformed).toMatchObject({ status: 400, body: { code: 'delegation_invalid' } });
    expect((await service.buy(account, ask('Still'), leaked.headers)).status).toBe(200);
  });

  it('429 beyond so many of one wallet that stand; what was revoked already is heard again', async () => {
    const { account } = await service.newAgent();
    const leaked = await delegate(account, account, newKey());
    expect((await revoke(account, leaked, leaked.headers)).status).toBe(200);
    await service.query(
      `insert into session_revocation (delegation_hash, payer, at, signature, revoked_at, unbound_until)
        select 'filled ' || n, $1, 0, '', now(), 9999999999 from generate_series(2, $2::int) n`,
      [account.address, sessionLimits.unbound_revocations_per_payer_max],
    );
    const next = await delegate(account, account, newKey());
    expect(await revoke(account, next, next.headers)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect((await revoke(account, leaked, leaked.headers)).status).toBe(200);
  });

  it('is forgotten once nothing could bind the grant any more; what was bound meanwhile is kept, and listed', async () => {
    const { account } = await service.newAgent();
    const [ended, lasting] = [await delegate(account, account, newKey()), await delegate(account, account, newKey())];
    for (const grant of [ended, lasting]) expect((await revoke(account, grant, grant.headers)).status).toBe(200);
    const bound = await delegate(account, account, newKey());
    expect((await service.buy(account, ask('Binds'), bound.headers)).status).toBe(200);
    expect((await revoke(account, bound)).status).toBe(200);
    // As of payments that were on their way when they were revoked.
    await service.query('update session_revocation set unbound_until = 1 where delegation_hash = any($1)', [
      [ended.delegation_hash, bound.delegation_hash],
    ]);
    await forgetUnboundRevocations({ query: ({ text, values }: never) => service.query(text, values) } as never);
    const kept = await service.query<{ delegation_hash: string }>(
      'select delegation_hash from session_revocation where payer = $1',
      [account.address],
    );
    expect(new Set(kept.map(it => it.delegation_hash))).toEqual(
      new Set([lasting.delegation_hash, bound.delegation_hash]),
    );
    expect(await listed()).toContain(bound.delegation_hash);
  });
});
