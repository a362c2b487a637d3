import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { type Address, type Hex, hashTypedData, recoverTypedDataAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { type ActMessage, actDigest, payloadHash, revocationDigest } from '../../../schema/session/act.ts';
import { delegationHash, type Grant, grantDigest, grantMessage, spelledGrant } from '../../../schema/session/grant.ts';
import { hashHex } from '../../../schema/session/hash.ts';
import { addressOfPublicKey, isSignatureOfKey } from '../../../schema/session/public-key.ts';
import { firstDomain, sessionDomain, sessionTypes, ZERO_HASH } from '../../../schema/session/typed-data.ts';

const account = privateKeyToAccount(generatePrivateKey());
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(value => `0x${Buffer.from(value).toString('hex')}`);
const names = fc.uniqueArray(
  fc.string({ minLength: 1, maxLength: 20 }).filter(name => name.isWellFormed()),
  { maxLength: 5 },
);
const seconds = fc.integer({ min: 0, max: 2 ** 48 });

const grants = fc
  .record({
    payer: hex(20),
    agentPubkey: fc.oneof(hex(33), hex(65)),
    capAtomic: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String),
    validAfter: seconds,
    sessionExpiry: seconds,
    parentDelegationHash: hex(32),
    models: names,
    doors: names,
    salt: hex(32),
  })
  .map(spelledGrant);
const acts: fc.Arbitrary<ActMessage> = fc.record({
  delegation_hash: hex(32),
  nonce: hex(32),
  action: fc.string().filter(text => text.isWellFormed()),
  resource: fc.string().filter(text => text.isWellFormed()),
  deadline: seconds,
  target_agent: fc.nat(),
  payload_hash: hex(32),
});

const domain = sessionDomain('https://svc.example');
const elsewhere = sessionDomain('https://other.example');
const typed = { domain, types: sessionTypes } as const;

function typedGrant(grant: Grant) {
  return { ...typed, primaryType: 'AuthorizeSession', message: grantMessage(grant) as never } as const;
}

function typedAct(act: ActMessage) {
  const message = {
    delegationHash: act.delegation_hash as Hex,
    nonce: act.nonce as Hex,
    action: act.action,
    resource: act.resource,
    deadline: BigInt(act.deadline),
    targetAgent: BigInt(act.target_agent),
    payloadHash: act.payload_hash as Hex,
  };
  return { ...typed, primaryType: 'SessionAct', message } as const;
}

describe('the typed data of sessions', () => {
  it('is hashed as viem hashes it', () => {
    fc.assert(
      fc.property(grants, acts, hex(32), seconds, (grant, act, hash, at) => {
        expect(delegationHash(domain, grant)).toBe(hashTypedData(typedGrant(grant)));
        expect(hashHex(actDigest(domain, act))).toBe(hashTypedData(typedAct(act)));
        const message = { delegationHash: hash as Hex, at: BigInt(at) };
        expect(hashHex(revocationDigest(domain, hash, at))).toBe(
          hashTypedData({ ...typed, primaryType: 'RevokeSession', message }),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('names the service by its base URL: the salt is the SHA-256 of that, and version 1 has none', () => {
    expect(domain).toEqual({
      name: 'svc.session',
      version: '2',
      chainId: 8453,
      salt: `0x${createHash('sha256').update('https://svc.example').digest('hex')}`,
    });
    expect(firstDomain).toEqual({ name: 'svc.session', version: '1', chainId: 8453 });
    fc.assert(
      fc.property(grants, acts, hex(32), seconds, (grant, act, hash, at) => {
        const digests = [domain, elsewhere, firstDomain].flatMap(domain =>
          [grantDigest(domain, grant), actDigest(domain, act), revocationDigest(domain, hash, at)].map(hashHex),
        );
        expect(new Set(digests).size).toBe(digests.length);
        const first = { domain: firstDomain, types: sessionTypes, primaryType: 'AuthorizeSession' } as const;
        expect(delegationHash(firstDomain, grant)).toBe(
          hashTypedData({ ...first, message: grantMessage(grant) as never }),
        );
      }),
      { numRuns: 20 },
    );
  });

  /** Two that have no member in common: what is drawn twice may be the same bound. */
  function two<T extends object>(drawn: fc.Arbitrary<T>): [T, T] {
    const pairs = fc
      .tuple(drawn, drawn)
      .filter(([one, other]) =>
        (Object.keys(one) as (keyof T)[]).every(member => Array.isArray(one[member]) || one[member] !== other[member]),
      );
    return fc.sample(pairs, 1)[0] as [T, T];
  }
  const [grant, other] = two<Grant>(grants);
  const [act, another] = two<ActMessage>(acts);

  it('is verified where viem has signed it, and recovered by viem', async () => {
    const signature = await account.signTypedData(typedGrant(grant));
    expect(isSignatureOfKey(account.address, grantDigest(domain, grant), signature)).toBe(true);
    expect(await recoverTypedDataAddress({ ...typedGrant(grant), signature })).toBe(account.address);
    expect(isSignatureOfKey(account.address, actDigest(domain, act), await account.signTypedData(typedAct(act)))).toBe(
      true,
    );
  });

  it.each(Object.keys(grant) as (keyof Grant)[])('is another grant with another %s', async member => {
    const signature = await account.signTypedData(typedGrant(grant));
    const changed: Grant = {
      ...grant,
      [member]: Array.isArray(grant[member]) ? [...(grant[member] as string[]), 'x'] : other[member],
    };
    expect(delegationHash(domain, changed)).not.toBe(delegationHash(domain, grant));
    expect(isSignatureOfKey(account.address, grantDigest(domain, changed), signature)).toBe(false);
  });

  it.each(Object.keys(act) as (keyof ActMessage)[])('is another act with another %s', async member => {
    const signature = await account.signTypedData(typedAct(act));
    const value = member === 'target_agent' || member === 'deadline' ? act[member] + 1 : `${another[member]}`;
    const changed: ActMessage = {
      ...act,
      [member]: member === 'action' || member === 'resource' ? `${act[member]}x` : value,
    };
    expect(isSignatureOfKey(account.address, actDigest(domain, changed), signature)).toBe(false);
  });

  it('is another revocation of another session or time', async () => {
    const message = { delegationHash: ZERO_HASH, at: 5n } as const;
    const signature = await account.signTypedData({ ...typed, primaryType: 'RevokeSession', message });
    expect(isSignatureOfKey(account.address, revocationDigest(domain, ZERO_HASH, 5), signature)).toBe(true);
    expect(isSignatureOfKey(account.address, revocationDigest(domain, ZERO_HASH, 6), signature)).toBe(false);
    expect(isSignatureOfKey(account.address, revocationDigest(domain, act.nonce, 5), signature)).toBe(false);
  });

  it('knows a key by both forms of its point, and refuses what is on no curve', () => {
    const whole = account.publicKey;
    const compressed = `0x0${2 + (Number.parseInt(whole.slice(-1), 16) % 2)}${whole.slice(4, 68)}`;
    expect([whole, compressed].map(addressOfPublicKey)).toEqual([account.address, account.address] as Address[]);
    expect(addressOfPublicKey(`0x02${'f'.repeat(64)}`)).toBeNull();
  });

  it('takes one form of a signature alone: the other s is nobody’s (EIP-2)', async () => {
    const signature = await account.signTypedData(typedAct(act));
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const high = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
    const flipped = `${signature.slice(0, 66)}${high}${signature.endsWith('1b') ? '1c' : '1b'}`;
    expect(isSignatureOfKey(account.address, actDigest(domain, act), flipped)).toBe(false);
    for (const wrong of [signature.slice(0, -2), `${signature}00`, `${signature.slice(0, -2)}05`])
      expect(isSignatureOfKey(account.address, actDigest(domain, act), wrong)).toBe(false);
  });

  it('hashes a payload by its canonical form, and none as zeros', () => {
    expect(payloadHash({ b: 1, a: 2 })).toBe(payloadHash({ a: 2, b: 1 }));
    expect(payloadHash(null)).toBe(ZERO_HASH);
  });
});
