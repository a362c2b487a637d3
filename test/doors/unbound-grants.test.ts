import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sessionLimits } from '../../schema/limits.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { type DelegatedSession, delegate, headerOf, signRevocation } from '../harness/session/delegate.ts';
import { newKey } from '../harness/session/trees.ts';

/* A grant that others got before its payer has paid under it. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

type Signer = Parameters<typeof signRevocation>[0];
const revoke = async (signer: Signer, { delegation_hash }: Pick<DelegatedSession, 'delegation_hash'>, headers = {}) =>
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
  it('404 by its name alone; 200 with the grant beside it, again too: nothing is bought under it, and it is listed', async () => {
    const { account } = await service.newAgent();
    const leaked = await delegate(account, account, newKey());
    expect((await revoke(account, leaked)).status).toBe(404);
    const first = await revoke(account, leaked, leaked.headers);
    expect(first).toMatchObject({ status: 200, body: { status: 'revoked', payer: account.address } });
    expect((await revoke(account, leaked, leaked.headers)).body).toEqual(first.body);
    expect(await service.buy(account, ask('Under it'), leaked.headers)).toMatchObject(over);
    expect(await service.transfersFrom(account)).toHaveLength(1);
    expect(await listed()).toContain(leaked.delegation_hash);
    // Another grant of the same payer is still valid.
    const other = await delegate(account, account, newKey());
    expect((await service.buy(account, ask('Under another'), other.headers)).status).toBe(200);
  });

  it('200 to each of 20 at once, by one revocation of which all are told', async () => {
    const { account } = await service.newAgent();
    const leaked = await delegate(account, account, newKey());
    const heard = await Promise.all(Array.from({ length: 20 }, () => revoke(account, leaked, leaked.headers)));
    expect(new Set(heard.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(heard.map(({ text }) => text)).size).toBe(1);
    expect((await listed()).filter(it => it === leaked.delegation_hash)).toHaveLength(1);
  });

  it('400 by a wallet that has bought nothing, also while its first payment under the grant is on its way', async () => {
    const payer = await service.chain.newWallet();
    const session = await delegate(payer, payer, newKey());
    await service.query(
      `insert into delegation (delegation_hash, payer, agent_pubkey, agent_address, cap_atomic, valid_after, session_expiry,
          parent_hash, path, models, doors, salt, signature, spent_atomic, created_at)
        values ($1, $2, '0x', '0x', 1, 0, 9999999999, null, jsonb_build_array($1::text), '[]', '[]', '0x', '0x', 0, now())`,
      [session.delegation_hash, payer.address],
    );
    expect(await revoke(payer, session)).toMatchObject({ status: 400, body: { code: 'revocation_invalid' } });
  });

  it('200 by the payer of the session over it', async () => {
    const { account } = await service.newAgent();
    const parent = await delegate(account, account, newKey());
    expect((await service.buy(account, ask('Binds the parent'), parent.headers)).status).toBe(200);
    const payer = await service.chain.newWallet();
    const { validAfter, sessionExpiry } = parent.grant;
    const child = await delegate(parent.agent, payer, newKey(), {
      parentDelegationHash: parent.delegation_hash as never,
      capAtomic: '5000',
      validAfter,
      sessionExpiry,
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
    // A grant with another payer's name is a different grant.
    const other = await delegate(nobody, nobody, newKey(), { salt: leaked.grant.salt as never });
    expect((await revoke(account, leaked, other.headers)).status).toBe(404);
    const malformed = await revoke(account, leaked, headerOf({ grant: {}, signature: '0x00' }));
    expect(malformed).toMatchObject({ status: 400, body: { code: 'delegation_invalid' } });
    expect((await service.buy(account, ask('Still'), leaked.headers)).status).toBe(200);
  });

  it('400 beyond so many of one wallet; what was revoked already is heard again', async () => {
    const { account } = await service.newAgent();
    const leaked = await delegate(account, account, newKey());
    expect((await revoke(account, leaked, leaked.headers)).status).toBe(200);
    await service.query(
      `insert into session_revocation (delegation_hash, payer, at, signature, revoked_at, unbound, seq)
        select 'filled ' || n, $1, 0, '', now(), true, m.last + n
        from generate_series(1, $2::int - 1) n, (select max(seq) as last from session_revocation) m`,
      [account.address, sessionLimits.unbound_revocations_per_payer_max],
    );
    const next = await delegate(account, account, newKey());
    expect(await revoke(account, next, next.headers)).toMatchObject({
      status: 400,
      body: { code: 'revocation_invalid' },
    });
    expect((await revoke(account, leaked, leaked.headers)).status).toBe(200);
  });
});
