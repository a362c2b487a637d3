import fc from 'fast-check';
import { calculateJwkThumbprint, createLocalJWKSet, importJWK, type JSONWebKeySet, jwtVerify } from 'jose';
import { recoverMessageAddress } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { everyDoor } from '../../../../rest-compat/every-door.ts';
import { canonicalHash, canonicalJson, type JsonObject } from '../../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../../schema/digest.ts';
import { noHistories } from '../../../../subgraphs/receipt/issuer/histories.ts';
import { openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { succession } from '../../../../subgraphs/receipt/issuer/snapshot.ts';

const base_url = 'https://svc.example';
const now_ms = () => 1_767_323_045_678;
const [old_seed, seed] = ['11'.repeat(32), '22'.repeat(32)];
/** Hashes of receipt policies, which signed receipts contain. */
const FIRST_POLICY_HASH = 'b2bdd55c94063c7109f6ec1464c3f84a3520bdcca6f26e7fd2001ca992a58227';
const SECOND_POLICY_HASH = 'bcdce46a71e8edb70c3e0c6c6d73bc67addbd5f7e8a0a0a64fc1f7ec6796b3b2';
const EIGHTH_POLICY_HASH = 'eef1a96852a838994b143e2ec81154480a8f2b77f510e1039a26f2fb7da83548';
const SEVENTH_POLICY_HASH = '29967c4c3737986a0ad3a6e73d8560628a565829f774691c35a48eb284f00fae';
const THIRD_POLICY_HASH = 'bcfcaa7aab1fe88d977679cdb9e0b721b8a0b4d975d6ae4d20309508d7775863';
const issuer = openIssuer([seed], { base_url, now_ms });
const rotated = openIssuer([seed, old_seed], { base_url, now_ms });
const jwks = issuer.jwks as unknown as JSONWebKeySet;

const algorithms = { ES256: { name: 'ECDSA', hash: 'SHA-256' }, Ed25519: { name: 'Ed25519' } };

/** Verifies a raw signature by jose and WebCrypto, without our own code. */
async function verifyRaw(kid: string, alg: 'ES256' | 'Ed25519', text: string, value: string): Promise<boolean> {
  const key = await importJWK(jwks.keys.find(jwk => jwk.kid === kid) ?? {});
  if (!(key instanceof CryptoKey)) throw new Error(`no public key ${kid}`);
  return crypto.subtle.verify(algorithms[alg], key, Buffer.from(value, 'base64url'), Buffer.from(text));
}

describe('the issuer', () => {
  it('signs tokens that jose verifies against the published key set', async () => {
    const jws = issuer.signJws({ iss: base_url, iat: 1, jti: 'task_1' });
    const { payload, protectedHeader } = await jwtVerify(jws, createLocalJWKSet(jwks), { issuer: base_url });
    expect(payload).toEqual({ iss: base_url, iat: 1, jti: 'task_1' });
    expect(protectedHeader).toEqual({
      alg: 'ES256',
      kid: issuer.kid,
      typ: 'JWT',
      jku: `${base_url}/.well-known/jwks.json`,
    });
  });

  it('signs the payload hash by Ed25519 under a published key', async () => {
    const { alg, kid, value } = issuer.signature('ab'.repeat(32));
    expect(alg).toBe('Ed25519');
    expect(await verifyRaw(kid, alg, 'ab'.repeat(32), value)).toBe(true);
    expect(await verifyRaw(kid, alg, 'ac'.repeat(32), value)).toBe(false);
  });

  it('co-signs as a wallet would: viem recovers the published address', async () => {
    const { address, value } = issuer.coSignature('ab'.repeat(32));
    const signature = value as `0x${string}`;
    expect(await recoverMessageAddress({ message: 'ab'.repeat(32), signature })).toBe(address);
    expect(JSON.stringify(issuer.history)).toContain(address);
  });

  it('signs allowances over their canonical form', async () => {
    const allowance = { agent_id: 7, remaining: '1000', as_of: '2026-01-02T03:04:05.678Z' };
    const { alg, kid, value } = issuer.signAllowance(allowance);
    expect(await verifyRaw(kid, alg, canonicalJson(allowance), value)).toBe(true);
  });

  it('never uses one seed’s key material twice', () => {
    const points = jwks.keys.map(key => key.x);
    expect(new Set(points).size).toBe(3);
  });

  it('refuses a seed that is not 32 bytes of hex, without repeating it', () => {
    const secret = 'not-hex-but-secret';
    expect(() => openIssuer([secret], { base_url, now_ms })).toThrow(/^(?!.*not-hex-but-secret)/);
    expect(() => openIssuer([], { base_url, now_ms })).toThrow(RangeError);
  });
});

describe('a succession of seeds', () => {
  const [a, b, c] = ['a', 'b', 'c'];

  it.each<[what: string, known: string[], configured: string[], outcome: object]>([
    ['a first start, with every seed that there is', [], [a, b], { kind: 'continues', added: [a, b] }],
    ['the same again', [a, b], [a, b], { kind: 'continues', added: [] }],
    ['the current one alone', [a, b], [b], { kind: 'continues', added: [] }],
    ['retired ones in another order', [a, b, c], [b, a, c], { kind: 'continues', added: [] }],
    ['a new one, the old one still there', [a], [a, b], { kind: 'continues', added: [b] }],
    ['a new one in place of all', [a, b], [c], { kind: 'continues', added: [c] }],
    ['two new ones', [a], [a, b, c], { kind: 'continues', added: [b, c] }],
    ['a retired one that comes back', [a, b], [a], { kind: 'retired_key', kid: a }],
    ['a retired one before the current one', [a, b], [b, a], { kind: 'retired_key', kid: a }],
    ['an older one that was never heard of', [b], [a, b], { kind: 'unrecorded_key', kid: a }],
    ['one slipped in between', [a, b], [a, c, b], { kind: 'unrecorded_key', kid: c }],
    ['one slipped in before a new one', [b], [a, b, c], { kind: 'unrecorded_key', kid: a }],
  ])('%s', (_, known, configured, outcome) => {
    expect(succession(known, configured)).toEqual(outcome);
  });

  it('only ever adds at the end, and ends with the configured one, or refuses', () => {
    const kids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 });
    fc.assert(
      fc.property(kids, kids, (known, configured) => {
        const next = succession(known, configured);
        if (next.kind !== 'continues') return;
        const after = [...known, ...next.added];
        expect(after.at(-1)).toBe(configured.at(-1));
        expect(new Set(after).size).toBe(after.length);
      }),
    );
  });
});

describe('key rotation', () => {
  it('signs with the new key and still publishes the old one', async () => {
    const before = openIssuer([old_seed], { base_url, now_ms });
    const keys = createLocalJWKSet(rotated.jwks as unknown as JSONWebKeySet);
    expect(rotated.kid).toBe(issuer.kid);
    await expect(jwtVerify(before.signJws({ iss: base_url }), keys)).resolves.toBeDefined();
  });

  it('appends to the history: the older snapshot stays reachable by version and by hash', () => {
    const before = openIssuer([old_seed], { base_url, now_ms });
    const { version, hash } = before.issuer_history;
    expect(rotated.issuer_history).toMatchObject({ version: 2, seq: 2 });
    expect(rotated.historySnapshot({ version })).toMatchObject({ hash });
    expect(rotated.historySnapshot({ hash })).toMatchObject({ version });
    expect(rotated.historySnapshot({ hash: 'nowhere' })).toBeNull();
    expect(rotated.history).toMatchObject({ version: 2, snapshot: { previous_hash: hash } });
  });
});

describe('the published histories', () => {
  it('show beside a snapshot the keys that it names, each with its times, signed by the key that it made current', async () => {
    const { snapshot, keys, snapshots, issuer_signature, activated_at, hash } = rotated.history as never as {
      snapshot: { entries: { kid: string; thumbprints: JsonObject; addresses: string[] }[] };
      keys: { kid: string; activated_at: string; retired_at?: string; jwks: JSONWebKeySet }[];
      snapshots: JsonObject[];
      issuer_signature: { jws: string };
      activated_at: string;
      hash: string;
    };
    expect(keys).toMatchObject([
      { seq: 1, retired_at: keys[1]?.activated_at },
      { seq: 2, activated_at },
    ]);
    expect(keys[1]).not.toHaveProperty('retired_at');
    for (const [index, { thumbprints, addresses }] of snapshot.entries.entries()) {
      const jwks = keys[index]?.jwks.keys ?? [];
      expect(await Promise.all(jwks.map(jwk => calculateJwkThumbprint(jwk)))).toEqual([
        thumbprints.ES256,
        thumbprints.Ed25519,
        thumbprints.ES256K,
      ]);
      const point = [jwks[2]?.x, jwks[2]?.y].map(part => Buffer.from(String(part), 'base64url').toString('hex'));
      expect([publicKeyToAddress(`0x04${point.join('')}`)]).toEqual(addresses);
    }
    const { payload } = await jwtVerify(issuer_signature.jws, createLocalJWKSet(keys[1]?.jwks as JSONWebKeySet));
    expect(payload).toMatchObject({ issuer_history: { hash, version: 2, seq: 2 }, activated_at });
    expect(snapshots).toMatchObject([{ version: 1 }, { version: 2, hash }]);
  });

  it('hold the keys of retired seeds in JWKS and did.json too, the newest first', () => {
    const kids = (rotated.jwks as never as JSONWebKeySet).keys.map(({ kid }) => kid);
    const before = (openIssuer([old_seed], { base_url, now_ms }).jwks as never as JSONWebKeySet).keys;
    expect(kids).toEqual([...jwks.keys, ...before].map(({ kid }) => kid));
    const methods = (rotated.did.document as { assertionMethod: readonly string[] }).assertionMethod;
    expect(methods.map(id => id.split('#')[1])).toEqual(kids);
  });

  it('say of an answer that was cut for its request or by a limit that its payment has no work done once more', () => {
    const { policies } = issuer.policyHistory as never as { policies: { policy: JsonObject }[] };
    const hub_broke_off = expect.stringMatching(/After a refusal of the request and after a limit it has not/);
    expect(policies.at(-1)?.policy).toMatchObject({ version: 9, commitments: { omissions: { hub_broke_off } } });
  });

  it('keep versions 1 to 3, 7 and 8 of the receipt policy byte for byte; each later one names the one before it', () => {
    const { policies } = issuer.policyHistory as never as { policies: { hash: string; policy: JsonObject }[] };
    expect(policies.map(({ policy }) => canonicalHash(policy))).toEqual(policies.map(({ hash }) => hash));
    expect(policies[0]?.hash).toBe(FIRST_POLICY_HASH);
    expect(policies[1]?.policy).toMatchObject({ version: 2, previous_hash: FIRST_POLICY_HASH });
    expect(policies[1]?.hash).toBe(SECOND_POLICY_HASH);
    expect(policies[2]?.policy).toMatchObject({ version: 3, previous_hash: SECOND_POLICY_HASH });
    expect(policies[2]?.hash).toBe(THIRD_POLICY_HASH);
    expect(policies[3]?.policy).toMatchObject({ version: 4, previous_hash: THIRD_POLICY_HASH });
    expect(policies[4]?.policy).toMatchObject({ version: 5, previous_hash: policies[3]?.hash });
    expect(policies[5]?.policy).toMatchObject({ version: 6, previous_hash: policies[4]?.hash });
    expect(policies[6]?.policy).toMatchObject({ version: 7, previous_hash: policies[5]?.hash });
    expect(policies[6]?.hash).toBe(SEVENTH_POLICY_HASH);
    expect(policies[7]?.policy).toMatchObject({ version: 8, previous_hash: SEVENTH_POLICY_HASH });
    expect(policies[7]?.hash).toBe(EIGHTH_POLICY_HASH);
    expect(policies[8]?.policy).toMatchObject({ version: 9, previous_hash: EIGHTH_POLICY_HASH });
    expect(issuer.receipt_policy).toEqual({ version: 9, hash: policies[8]?.hash });
  });

  it('refuse another policy in place of a published one, and go on beside one that a newer process has published', () => {
    const { policies } = issuer.historiesAfter(noHistories, now_ms());
    const [version_1, version_2] = policies;
    if (!version_1 || !version_2) throw new Error('more than two are published');
    const snapshots = issuer.historiesAfter(noHistories, now_ms()).snapshots;
    const changed = { ...version_2, hash: 'a'.repeat(64) };
    expect(() =>
      issuer.historiesAfter({ ...noHistories, snapshots, policies: [version_1, changed] }, now_ms()),
    ).toThrow('never changes');
    const newer = { ...noHistories, snapshots, policies: [...policies, { ...changed, version: policies.length + 1 }] };
    expect(issuer.historiesAfter(newer, now_ms())).toBe(newer);
    const continued = issuer.historiesAfter({ ...noHistories, snapshots, policies: [version_1] }, now_ms()).policies;
    expect(continued).toMatchObject(policies.map(({ version, hash }) => ({ version, hash })));
    expect(continued[1]?.previous_hash).toBe(version_1.hash);
  });

  it('know in their newest policy a commitment rule for each paid door, and no other', () => {
    const { policies } = issuer.policyHistory as never as {
      policies: { policy: { commitments?: { doors: JsonObject } } }[];
    };
    const doors = policies.at(-1)?.policy.commitments?.doors ?? {};
    const paid = everyDoor.filter(({ price }) => price !== null);
    expect(Object.keys(doors).sort()).toEqual(paid.map(({ path }) => `POST ${path}`).sort());
  });

  it('go on from what was published before they were kept: the same seeds, the very hashes that receipts have signed', () => {
    expect(rotated.historySnapshot({ version: 1 })).toMatchObject({
      hash: '2c79b88baf0db27f861fad802e3ec09983a6870e0d2a27a188e35828e3c80037',
    });
    expect(rotated.issuer_history.hash).toBe('d4d5457fc517742d8d7ba6da72eb6f8184a307175fcb9d7b68f848c0797f0c46');
  });

  it('are hashed over what they show, and alike in every process', () => {
    const { hash, snapshot } = issuer.history as { hash: string; snapshot: never };
    expect(canonicalHash(snapshot)).toBe(hash);
    expect(issuer.issuer_history.hash).toBe(hash);
    const elsewhere = openIssuer([seed], { base_url: 'https://other.example', now_ms: () => 0 });
    expect(elsewhere.history).toMatchObject({ hash, snapshot });
    expect(elsewhere.receipt_policy).toEqual(issuer.receipt_policy);
  });

  it('name the policy that receipts sign, under the issuer’s signature', async () => {
    const history = issuer.policyHistory as { policies: { policy: never }[]; issuer_signature: { jws: string } };
    const policy = history.policies.at(-1)?.policy;
    expect(sha256Hex(canonicalJson(policy ?? null))).toBe(issuer.receipt_policy.hash);
    const { payload } = await jwtVerify(history.issuer_signature.jws, createLocalJWKSet(jwks));
    expect(payload.receipt_policy).toEqual(issuer.receipt_policy);
  });
});
