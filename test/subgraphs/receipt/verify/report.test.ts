import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../../schema/digest.ts';
import { documents } from '../../../../schema/documents.ts';
import { networks } from '../../../../schema/network.ts';
import { refusalDocument } from '../../../../subgraphs/receipt/refusal/find.ts';
import { SignedRefusal } from '../../../../subgraphs/receipt/refusal/refusal.entity.ts';
import { type Verification, verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { verifyRefusal } from '../../../../subgraphs/receipt/verify/refusal.ts';
import type { Report } from '../../../../subgraphs/receipt/verify/result.ts';
import { alter, base_url, issue, issuer, otherIssuer, paths } from '../../../harness/receipt/issue.ts';
import { paidCall, waivedCall } from '../../../harness/vectors/receipt-facts.ts';

const receipt = await issue(paidCall);
const vouched = { ...(await issue({ ...paidCall, settled_by: 'receipt' })), settlement_status: 'settled' };
const waived = await issue(waivedCall, null);
const production = await issue({ ...paidCall, profile: 'production' });

/** The answer to a refused call: the refusal within its problem document. */
function refusedCall(): JsonObject {
  const payload = {
    schema: documents.refusal,
    refusal_id: 'refusal_1',
    chain_id: networks.base.chain_id,
    base_anchor: { status: 'AVAILABLE', block_number: 7, block_hash: '0xab' },
    refusal_code: 'policy_blocked',
    policy_code: 'kill_switch',
    nonce: 'ab'.repeat(16),
    timestamp: '2026-01-02T03:04:06.000Z',
    agent_id: 7,
    book_id: 7,
    task_id: 'task_1',
    policy_blocked_seq: 1,
    charged: false,
  } as const;
  const text = canonicalJson(payload);
  const signed = Object.assign(new SignedRefusal(), {
    refusalId: payload.refusal_id,
    payload: text,
    jws: issuer.signJws({ iss: base_url, iat: 1, jti: payload.refusal_id, ...payload }),
    kid: issuer.kid,
    value: issuer.signCanonical(text),
  });
  return {
    ...refusalDocument(signed, base_url),
    status: 403,
    code: 'policy_blocked',
    error: { code: 'policy_blocked' },
  };
}
const refusal = refusedCall();

function reportOf(verified: Verification | ReturnType<typeof verifyRefusal>): Report {
  if (verified.kind !== 'valid') throw new Error(`${verified.code}: ${verified.sentence}`);
  return verified.report;
}
const report = (document: JsonObject) => reportOf(verifyReceipt(document, issuer.jwks));
const NOTHING: readonly string[] = [];

const LANE = ['anchor_changed_since_binding', 'freeze', 'unverifiable_from_registry'];
const PAID_LANE = [...LANE, 'local_check', 'binding'];

describe('members that nobody signed', () => {
  it('are named: what stands beside a receipt, and what is no part of one', () => {
    expect(report(receipt).unsigned).toEqual({
      lane: ['settled_by', ...PAID_LANE, 'verification.how'],
      unknown: NOTHING,
    });
    expect(report(vouched).unsigned.lane).toEqual([
      'proof_outcome',
      'settled_by',
      ...PAID_LANE,
      'verification.how',
      'settlement_status',
    ]);
    // A document that was signed in production does not name a profile.
    for (const [document, lane] of [
      [waived, [...LANE, 'binding']],
      [production, PAID_LANE],
    ] as const)
      expect(report(document).unsigned).toEqual({
        lane: ['settled_by', ...lane, 'verification.how', 'profile'],
        unknown: NOTHING,
      });
  });

  it('are named wherever they are slipped in', () => {
    const signature = { ...(receipt.signature as JsonObject), by: 'a bank' };
    const verification = { ...(receipt.verification as JsonObject), support: 'https://evil.example' };
    const padded = { ...receipt, discount: '1', signature, verification };
    expect(report(padded).unsigned.unknown).toEqual(['signature.by', 'verification.support', 'discount']);
    expect(verifyReceipt({ ...receipt, settlement_status: 'refunded' }, issuer.jwks)).toMatchObject({
      code: 'shape_invalid',
    });
  });

  it('of an older version are those that it did not sign yet', () => {
    const payload = { payload_version: 8, task_id: 'task_8', hub: 'north' };
    const jws = issuer.signJws({ iss: base_url, jti: payload.task_id, ...payload });
    const old = { ...payload, payload, issuer_signature: { jws, kid: issuer.kid, alg: 'ES256' } };
    const document = { ...old, payload_hash: sha256Hex(canonicalJson(payload)), waived_by: 'live_key', book_seq: 7 };
    expect(report(document).unsigned.lane).toEqual(['waived_by', 'book_seq']);
    expect(report(document).unchecked.join()).toContain('primary signature');
  });

  it('of a refusal are those of the problem around it', () => {
    const { unsigned, unchecked } = reportOf(verifyRefusal(refusal, issuer.jwks));
    expect(unsigned).toEqual({ lane: ['verification.how', 'status', 'code', 'error'], unknown: NOTHING });
    expect(unchecked.join()).toContain('block of Base');
    expect(verifyRefusal({ ...refusal, discount: '1' }, issuer.jwks)).toMatchObject({ code: 'copy_mismatch' });
  });
});

describe('a broken second signature', () => {
  const strangers = otherIssuer.coSignature(String(receipt.payload_hash));

  it.each<[name: string, broken: Json]>([
    ['co_signature', strangers as unknown as Json],
    ['co_signature', {}],
    ['signature', { ...(receipt.signature as JsonObject), value: 'AA' }],
    ['signature', { ...(receipt.signature as JsonObject), alg: 'none' }],
  ])('%s is named, and the other one is enough', (name, broken) => {
    expect(report({ ...receipt, [name]: broken }).broken).toEqual([name]);
    expect(report(receipt).broken).toEqual(NOTHING);
  });

  it('that is not even an object is no receipt', () => {
    expect(verifyReceipt({ ...receipt, co_signature: true }, issuer.jwks)).toMatchObject({ code: 'shape_invalid' });
  });
});

describe('what was not checked', () => {
  it('is said, each with the way to check it', () => {
    const said = report(receipt).unchecked.join('\n');
    for (const part of [paidCall.payment?.ref, 'inclusionProof', 'issuer-history.json', 'receipt-policy-history.json'])
      expect(said).toContain(part);
    expect(said).not.toContain('the receipt has none');
    const { co_signature: _, ...without } = receipt;
    expect(report(without).unchecked.join()).toContain('co-signature (EIP-191): the receipt has none');
    expect(report(waived).unchecked.join()).not.toContain('USDC');
  });
});

describe('a member of another type', () => {
  it.each<[name: string, value: Json]>([
    ['log_id', true],
    ['log_id', '1'],
    ['log_id', [1]],
    ['root_hash', [receipt.root_hash ?? null]],
    ['payload_hash', [receipt.payload_hash ?? null]],
    ['leaf_index', String(receipt.leaf_index)],
    ['verify_url', [receipt.verify_url ?? null]],
    ['verification', true],
    ['chain_ended', 'no'],
  ])('%s of %j is invalid', (name, value) => {
    expect(verifyReceipt({ ...receipt, [name]: value }, issuer.jwks).kind).toBe('invalid');
  });

  /** Values that would be equal to the original only if they were converted. */
  const disguises = (old: Json): Json[] => [
    [old],
    typeof old === 'string' ? { toString: old } : String(old),
    old === 1 ? true : null,
    ...(typeof old === 'string' && /^\d+$/.test(old) ? [Number.parseInt(old, 10)] : []),
  ];

  it.each<[what: string, document: JsonObject, verify: typeof verifyReceipt | typeof verifyRefusal]>([
    ['receipt', receipt, verifyReceipt],
    ['receipt that is pending', vouched, verifyReceipt],
    ['receipt of a call by key', waived, verifyReceipt],
    ['refusal', refusal, verifyRefusal],
  ])('of a %s is invalid, or named as unsigned or broken', (_, document, verify) => {
    const every = [...paths(document), ...Object.keys(document).map(name => [name])];
    fc.assert(
      fc.property(fc.constantFrom(...every), fc.nat(3), (path, pick) => {
        let flipped = false;
        const forged = alter(document, path, old => {
          const choices = disguises(old);
          const disguise = choices[pick % choices.length] ?? null;
          flipped = canonicalJson(disguise) !== canonicalJson(old);
          return disguise;
        }) as JsonObject;
        const verified = verify(forged, issuer.jwks);
        if (!flipped || verified.kind === 'invalid') return;
        const { unsigned, broken } = verified.report;
        const named = [...unsigned.lane, ...unsigned.unknown, ...broken];
        expect(named.some(name => path.join('.').startsWith(name))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a member that is called like what every object has', () => {
  const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];
  it.each(names)('%s: is told as signed by nobody, and of a refusal there is no such member', name => {
    const beside = (document: JsonObject) => JSON.parse(`{"${name}":"evil",${JSON.stringify(document).slice(1)}`);
    expect(report(beside(receipt)).unsigned.unknown).toEqual([name]);
    expect(verifyRefusal(beside(refusal), issuer.jwks)).toMatchObject({ kind: 'invalid', code: 'copy_mismatch' });
  });
});
