import fc from 'fast-check';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { canonicalHash, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { receiptHeaders } from '../../../../subgraphs/receipt/receipt/headers.ts';
import type { ReceiptFacts } from '../../../../subgraphs/receipt/receipt/receipt-facts.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { alter, base_url, collected_at_ms, issue, issuer, otherIssuer, paths } from '../../../harness/receipt/issue.ts';
import { paidCall, waivedCall } from '../../../harness/vectors/receipt-facts.ts';

const document = await issue(paidCall);
const claimsOf = async (from: JsonObject) => {
  const { jws } = from.issuer_signature as { jws: string };
  return (await jwtVerify(jws, createLocalJWKSet(issuer.jwks as unknown as JSONWebKeySet))).payload as JsonObject;
};

/** A receipt with these signed claims, as a careless or older issuer would have made it. */
async function signed(claims: JsonObject, payload: JsonObject, more: JsonObject = {}): Promise<JsonObject> {
  const payload_hash = canonicalHash(payload);
  const jws = issuer.signJws({ iss: base_url, jti: String(payload.task_id), ...payload, ...claims });
  return {
    task_id: String(payload.task_id),
    payload,
    payload_hash,
    issuer_signature: { jws, kid: issuer.kid, alg: 'ES256' },
    signature: issuer.signature(payload_hash),
    ...more,
  };
}

describe('a receipt', () => {
  it('is valid, and its claims say who paid what, where it stands in log and book', async () => {
    const verified = verifyReceipt(document, issuer.jwks);
    expect(verified).toMatchObject({ kind: 'valid', claim_id: 7 });
    const claims = await claimsOf(document);
    expect(claims).toMatchObject({
      iss: base_url,
      iat: Math.floor(collected_at_ms / 1000),
      jti: paidCall.task_id,
      claim_id: 7,
      payload_version: 11,
      leaf_index: 1,
      tree_size: 2,
      book_seq: 1,
      collected_at: '2026-01-02T03:04:06.000Z',
      payload_hash: document.payload_hash,
      tree_head_hash: document.tree_head_hash,
      issuer_history: issuer.issuer_history,
      receipt_policy: issuer.receipt_policy,
      profile: 'development',
    });
  });

  it('leaves out what does not apply: no key stands there with null but settled_by and payment_ref', async () => {
    const waived = await issue(waivedCall, null);
    const nulls = Object.keys(waived).filter(name => waived[name] === null);
    expect(nulls).toEqual(['settled_by', 'payment_ref']);
    expect(waived).not.toHaveProperty('claim_id');
    expect(waived.payload).not.toHaveProperty('claim_id');
    expect(verifyReceipt(waived, issuer.jwks)).toMatchObject({ kind: 'valid', claim_id: 'none' });
  });

  it('of a call by key says who was let through and that nothing is there to prove', async () => {
    const waived = await issue(waivedCall, null);
    expect(waived).toMatchObject({ waived_by: 'live_key', proof_outcome: 'none', payment_ref: null });
    expect(await claimsOf(waived)).toMatchObject({ waived_by: 'live_key', caller_binding: waivedCall.caller_binding });
    for (const name of ['amount', 'payer_wallet']) expect(waived).not.toHaveProperty(name);
    expect(receiptHeaders(waived)).not.toHaveProperty('x-svc-payment-ref');
    expect(receiptHeaders(waived)).not.toHaveProperty('x-svc-amount');
  });

  it.each<JsonObject>([
    { waived_by: 'demo_key' },
    { proof_outcome: 'settled' },
    { settled_by: 'observed_transfer' },
    { payment_ref: 'base:0x01' },
    { amount: '2000' },
    { payer_wallet: paidCall.caller_binding.payer_wallet ?? '' },
  ])('of a call by key is invalid with %j beside it', async beside => {
    const waived = await issue(waivedCall, null);
    expect(verifyReceipt({ ...waived, ...beside }, issuer.jwks)).toMatchObject({ code: 'copy_mismatch' });
  });

  it('of a payment is invalid where a key is said to have stood in for it', () => {
    expect(verifyReceipt({ ...document, waived_by: 'live_key' }, issuer.jwks)).toMatchObject({ code: 'copy_mismatch' });
  });

  it.each<[what: string, facts: Partial<ReceiptFacts>]>([
    ['names a payment and a key that stood in for it', { payment: paidCall.payment }],
    ['says that what nobody paid was seen to move', { settled_by: 'observed_transfer' }],
    ['names a payer where nobody paid', { caller_binding: { ...paidCall.caller_binding, api_key_hash: 'e' } }],
    ['does not say which key stood in', { caller_binding: {} }],
    ['names a kind of key that there is not', { waived_by: 'waiver_key' as 'live_key' }],
  ])('is invalid where the issuer itself %s', async (_, facts) => {
    const forged = await issue({ ...waivedCall, ...facts }, null);
    expect(verifyReceipt(forged, issuer.jwks)).toMatchObject({ code: 'waiver_invalid' });
  });

  it('travels in headers too', () => {
    expect(receiptHeaders(document)).toEqual({
      'x-svc-task-id': paidCall.task_id,
      'x-svc-verify-url': `${base_url}/receipt/${paidCall.task_id}`,
      'x-svc-payment-ref': paidCall.payment?.ref,
      'x-svc-proof-outcome': 'settled',
      'x-svc-model': 'small-1',
      'x-svc-hub': 'north',
      'x-svc-amount': '2000',
      'x-svc-payload-hash': document.payload_hash,
    });
    expect(receiptHeaders({ ...document, model: 'modèle\r\nx-evil: 1' })['x-svc-model']).toMatch(/^[!-~]+$/);
    const longest = 'm'.repeat(limits.named_header_bytes_max);
    expect(receiptHeaders({ ...document, model: longest })).toHaveProperty('x-svc-model', longest);
    expect(receiptHeaders({ ...document, model: `${longest}m` })).not.toHaveProperty('x-svc-model');
  });

  it('is pending while the issuer has not seen the transfer', async () => {
    const vouched = await issue({ ...paidCall, settled_by: 'receipt' });
    expect(vouched).toMatchObject({ proof_outcome: 'pending', settled_by: 'receipt' });
    expect(verifyReceipt({ ...vouched, proof_outcome: 'settled' }, issuer.jwks).kind).toBe('valid');
  });

  const ingress_receipt = { ref: 'base:0x01', confirmed_at: '2026-01-02T03:04:10.000Z' };
  const omission_rule = 'no_ingress_receipt_at_cutoff';

  it.each<[what: string, lane: JsonObject]>([
    ['was seen since', { proof_outcome: 'settled', settled_by: 'observed_transfer', ingress_receipt }],
    ['was looked for in vain', { proof_outcome: 'unverified', omission_rule }],
  ])('that was signed as pending may say beside it that the transfer %s', async (_, lane) => {
    const vouched = await issue({ ...paidCall, settled_by: 'receipt' });
    expect(verifyReceipt({ ...vouched, ...lane }, issuer.jwks).kind).toBe('valid');
  });

  it.each<JsonObject>([
    { settled_by: 'receipt' },
    { proof_outcome: 'pending' },
    { proof_outcome: 'unverified' },
    { ingress_receipt },
    { omission_rule },
  ])('that was signed as seen is invalid with %j beside it', lane => {
    expect(verifyReceipt({ ...document, ...lane }, issuer.jwks)).toMatchObject({ code: 'copy_mismatch' });
  });
});

/** Another value of the same type: one character, one unit. */
function other(old: Json): Json {
  if (typeof old === 'number') return old + 1;
  if (typeof old !== 'string') return 'something';
  const at = Math.floor(old.length / 2);
  return `${old.slice(0, at)}${old[at] === 'f' ? 'e' : 'f'}${old.slice(at + 1)}`;
}

/** Members that may change: `how` is advice, and one valid signature of the two is enough. */
const unsigned = /^(verification\.how|signature\.|co_signature\.)/;

describe('an altered receipt', () => {
  const members = paths(document).filter(path => !unsigned.test(path.join('.')));

  it.each(members.map(path => [path.join('.'), path] as const))('is invalid when %s is another', (_, path) => {
    const forged = alter(document, path, other) as JsonObject;
    expect(verifyReceipt(forged, issuer.jwks)).toMatchObject({ kind: 'invalid' });
  });

  it('is invalid when a member of the payload is added or taken away', () => {
    const payload = document.payload as JsonObject;
    const { hub: _, ...less } = payload;
    for (const changed of [{ ...payload, discount: '1' }, less]) {
      expect(verifyReceipt({ ...document, payload: changed }, issuer.jwks).kind).toBe('invalid');
    }
  });

  it('is invalid under a key set that does not hold the key', async () => {
    expect(verifyReceipt(document, otherIssuer.jwks)).toMatchObject({ kind: 'invalid', code: 'signature_invalid' });
    expect(verifyReceipt(document, { keys: [] })).toMatchObject({ kind: 'invalid', code: 'signature_invalid' });
    expect(verifyReceipt(await issue(paidCall, 1, otherIssuer), issuer.jwks).kind).toBe('invalid');
  });

  it('stays valid with one of its two signatures, and is invalid with none', () => {
    const { signature: _, co_signature: __, ...neither } = document;
    const { signature, co_signature } = document as { signature: Json; co_signature: Json };
    expect(verifyReceipt({ ...neither, signature }, issuer.jwks).kind).toBe('valid');
    expect(verifyReceipt({ ...neither, co_signature }, issuer.jwks).kind).toBe('valid');
    const strangers = otherIssuer.coSignature(String(document.payload_hash));
    for (const forged of [neither, { ...neither, co_signature: strangers }]) {
      expect(verifyReceipt(forged, issuer.jwks)).toMatchObject({ code: 'receipt_signatures_invalid' });
    }
  });

  it('never makes the verifier throw, whatever it is given', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...paths(document)), (junk, path) => {
        const forged = alter(document, path.slice(0, 2), () => junk as Json) as JsonObject;
        expect(['valid', 'invalid']).toContain(verifyReceipt(forged, issuer.jwks).kind);
      }),
    );
    expect(verifyReceipt({}, {})).toMatchObject({ kind: 'invalid', code: 'malformed' });
    expect(verifyReceipt({ ...document, payload: { a: '\ud800' } }, issuer.jwks).kind).toBe('invalid');
  });
});

describe('the version table', () => {
  const payload = document.payload as JsonObject;
  const v8 = { payload_version: 8, task_id: paidCall.task_id, hub: 'north', payment: paidCall.payment as never };

  it('verifies version 8 without tree head and without claim_id, reported as legacy', async () => {
    expect(verifyReceipt(await signed({}, v8), issuer.jwks)).toMatchObject({ kind: 'valid', claim_id: 'legacy' });
  });

  it('refuses a payment whose claim_id is null', async () => {
    const forged = await signed({}, { ...v8, claim_id: null });
    expect(verifyReceipt(forged, issuer.jwks)).toMatchObject({ kind: 'invalid', code: 'claim_id_null' });
  });

  it.each([
    [9, 'tree_head_hash'],
    [9, 'tolerance'],
    [10, 'issuer_history'],
    [10, 'payload_hash'],
    [11, 'receipt_policy'],
  ])('refuses version %i that does not sign %s', async (payload_version, left_out) => {
    const { [left_out]: _, ...rest } = { ...payload, payload_version } as Record<string, Json>;
    const place = { tree_head_hash: 'f'.repeat(64), payload_hash: canonicalHash(rest), leaf_index: 1, tree_size: 2 };
    const { [left_out]: __, ...claims } = place as Record<string, Json>;
    expect(verifyReceipt(await signed(claims, rest), issuer.jwks)).toMatchObject({ code: 'version_unknown' });
  });

  it('refuses a version that nobody has defined', async () => {
    expect(verifyReceipt(await signed({}, { ...v8, payload_version: 12 }), issuer.jwks)).toMatchObject({
      code: 'version_unknown',
    });
  });

  it('refuses a receipt signed after its session had ended', async () => {
    const forged = await signed({ iat: 100, session_expiry: 99 }, v8);
    expect(verifyReceipt(forged, issuer.jwks)).toMatchObject({ code: 'session_expired' });
    const fresh = await signed({ iat: 100, session_expiry: 100, valid_after: 100 }, v8);
    expect(verifyReceipt(fresh, issuer.jwks).kind).toBe('valid');
  });
});
