import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../../schema/canonical-json.ts';
import { refusalId } from '../../../../schema/ids.ts';
import { systemRandom } from '../../../../subgraphs/clock.ts';
import { openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { refusalById, refusalDocument } from '../../../../subgraphs/receipt/refusal/find.ts';
import { issueRefusals } from '../../../../subgraphs/receipt/refusal/sign-refusal.ts';
import { signedAddresses } from '../../../../subgraphs/receipt/verify/addresses.ts';
import { undecided, verify } from '../../../../subgraphs/receipt/verify/module.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { alter, issuer as before, base_url as former, issue } from '../../../harness/receipt/issue.ts';
import { freshStore } from '../../../harness/store.ts';
import { paidCall } from '../../../harness/vectors/receipt-facts.ts';

/* Documents that a service signed at its former address and shows with links to its current one, read from a file. */

const present = 'https://new.example/api';
const stranger = 'https://stranger.example';
const now_ms = before.now_ms;
const seeds = ['22'.repeat(32)];
/** The issuer of the same service after its move. */
const after = openIssuer(seeds, { base_url: present, base_urls: [present, former], now_ms });
const keys = after.jwks as JsonObject;
const { addresses: _, ...keys_of_old } = keys;

/** The document as it is shown at that address, to which every unsigned link then leads. */
const shownAt = (base: string, document: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(document).map(([name, value]) => {
      if (name === 'verification' && isJsonObject(value)) return [name, shownAt(base, value)];
      const link = typeof value === 'string' && /_(url|uri)$/.test(name);
      return [name, link ? value.replace(former, base) : value];
    }),
  );

async function refused(): Promise<JsonObject> {
  const database = await freshStore();
  const call = {
    refusal_id: refusalId(now_ms(), systemRandom.bytes(10)),
    task_id: 'task_1',
    agent_id: 7,
    book_seq: 1,
    refusal_code: 'policy_blocked',
    policy_code: 'daily_cap_exceeded',
    requested_atomic: 2000n,
    at_ms: now_ms(),
  } as const;
  const anchor = () => ({ status: 'UNAVAILABLE' }) as const;
  const refuser = { issuer: before, random: systemRandom, profile: 'production', anchor } as const;
  await database.transaction(async tx => issueRefusals(tx, refuser, [call]));
  const refusal = await refusalById(database, call.refusal_id);
  if (!refusal) throw new Error('it was not written');
  return refusalDocument(refusal, former);
}

const kinds: readonly [kind: string, document: JsonObject][] = [
  ['receipt', await issue(paidCall)],
  ['refusal', await refused()],
];

describe.each(kinds)('a %s of a service that has moved', (_kind, document) => {
  it('is valid with links to the former or the present address, by the key set that is published now', () => {
    for (const base of [former, present]) expect(verify(shownAt(base, document), keys)).toMatchObject({ valid: true });
  });

  it('is not valid with links to anybody else', () => {
    for (const base of [stranger, `${present}.evil.example`, present.slice(0, -1)])
      expect(verify(shownAt(base, document), keys)).toMatchObject({ valid: false, fault: { code: 'link_foreign' } });
  });

  it('is not valid with one link to somebody else, also where the key set names no address', () => {
    const one = alter(document, ['verification', 'issuer_history_uri'], () => `${stranger}/.well-known/x`);
    for (const jwks of [keys, keys_of_old])
      expect(verify(one as JsonObject, jwks)).toMatchObject({ valid: false, fault: { code: 'link_foreign' } });
  });

  it('is neither valid nor invalid by a key set that names no address: the issuer may have moved there', () => {
    for (const base of [present, stranger]) {
      const { valid, fault } = verify(shownAt(base, document), keys_of_old);
      expect([valid, fault?.code, undecided(fault)]).toEqual([false, 'address_unknown', true]);
      expect(fault?.sentence).toContain(base);
    }
    expect(verify(document, keys_of_old)).toMatchObject({ valid: true });
  });

  it('is decided by where it was read, if that is known', () => {
    const options = { base_url: present };
    expect(verify(shownAt(present, document), keys_of_old, options)).toMatchObject({ valid: true });
    expect(verify(shownAt(stranger, document), keys_of_old, options).fault?.code).toBe('link_foreign');
  });
});

describe('the addresses in a key set', () => {
  const [, body = '', value = ''] = String(keys.addresses).split('.');
  const forged = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), base_urls: [stranger] }),
  ).toString('base64url');
  const others = openIssuer(['33'.repeat(32)], { base_url: stranger, now_ms }).jwks;

  const [typed = ''] = String(keys.addresses).split('.');
  const claims = { iss: present, iat: 1, base_urls: [present, stranger] };

  it('are a token of a type of its own, whose `iss` is among them', () => {
    expect(JSON.parse(Buffer.from(typed, 'base64url').toString())).toMatchObject({ typ: 'svc-addresses+jwt' });
    expect(JSON.parse(Buffer.from(body, 'base64url').toString())).toMatchObject({
      iss: present,
      base_urls: [present, former],
    });
    expect(signedAddresses({ ...keys, addresses: after.signJws(claims, 'svc-addresses+jwt') })).toEqual(
      claims.base_urls,
    );
  });

  it('are those that a key of the set signed', () => {
    expect(signedAddresses(keys)).toEqual([present, former]);
  });

  it.each<[what: string, jwks: JsonObject]>([
    ['altered', { ...keys, addresses: String(keys.addresses).replace(body, forged) }],
    ['with another signature', { ...keys, addresses: String(keys.addresses).replace(value, value.slice(1)) }],
    ['of another issuer', { ...keys, addresses: others.addresses ?? null }],
    ['in another token of the issuer', { ...keys, addresses: after.signJws(claims) }],
    [
      'without the issuer among them',
      { ...keys, addresses: after.signJws({ ...claims, iss: former }, 'svc-addresses+jwt') },
    ],
    ['without an `iss`', { ...keys, addresses: after.signJws({ base_urls: [stranger, null] }, 'svc-addresses+jwt') }],
    ['as a list that nobody signed', { ...keys, addresses: [stranger] }],
    [
      'by a key that was revoked',
      { ...keys, keys: (keys.keys as readonly JsonObject[]).map(key => ({ ...key, revoked: { tree_size: 0 } })) },
    ],
  ])('count for nothing %s', (_what, jwks) => {
    expect(signedAddresses(jwks)).toBe(null);
  });

  it('say nothing of what another key set signs', async () => {
    const receipt = shownAt(stranger, await issue(paidCall));
    expect(verifyReceipt(receipt, { ...others, keys: keys.keys ?? [] }).kind).toBe('invalid');
  });
});
