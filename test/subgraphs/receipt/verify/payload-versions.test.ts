import { describe, expect, it } from 'vitest';
import { canonicalHash, canonicalJson, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { payloadVersions } from '../../../../schema/receipt-payload.ts';
import type { ReceiptFacts } from '../../../../subgraphs/receipt/receipt/receipt-facts.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { alter, base_url, issue, issuer } from '../../../harness/receipt/issue.ts';
import { foreignPayment, paidCall } from '../../../harness/vectors/receipt-facts.ts';

/* For each payload version no signed member can be removed or altered, and no other member is trusted. */

const chained_ref = `base:${foreignPayment.observed_transfer.transaction}`;
/** A receipt whose payment did not go to this service, as for foreign ingest, Nano and stamps on the book chain. */
const foreign: ReceiptFacts = { ...paidCall, payment: null, chained: foreignPayment, caller_binding: {} };
const current = await issue(paidCall);
const chained = await issue(foreign);

const claimsIn = (document: JsonObject) => {
  const { jws } = document.issuer_signature as { jws: string };
  return JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString()) as JsonObject;
};

type Members = Readonly<Record<string, Json>>;

function without(members: JsonObject, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

/** Claims of a token in addition to its payload. Version 8 has none of them. */
const place = ['payload_hash', 'tree_head_hash', 'tree_size', 'leaf_index', 'book_seq', 'collected_at'];
const later: Readonly<Record<number, readonly string[]>> = {
  4: [],
  8: [...place, 'tolerance', 'issuer_history', 'receipt_policy', 'claim_id'],
  9: ['payload_hash', 'issuer_history', 'receipt_policy'],
  10: ['receipt_policy'],
  11: [],
};

/** A document of that version. `change` alters its claims before its issuer signs them. */
async function ofVersion(version: number, change: (claims: Members) => Members = it => it): Promise<JsonObject> {
  const full = claimsIn(version === 4 ? chained : current);
  const claims = change({ ...without(full, later[version] ?? []), payload_version: version });
  const payload = without(claims, ['iss', 'iat', 'jti', ...place]);
  const payload_hash = canonicalHash(payload);
  const signed = claims.payload_hash ? { ...claims, payload_hash } : claims;
  const shown = version === 4 ? chained : current;
  // The place in the log is shown if the version signs it. A null member is left out, because no document has one.
  const beside = 'tree_head_hash' in signed ? ['log_id', 'root_hash', 'amount'] : ['amount'];
  const names = [...Object.keys(signed).filter(name => signed[name] !== null), ...beside];
  const repeated = Object.fromEntries(Object.entries(shown).filter(([name]) => names.includes(name)));
  return {
    ...repeated,
    payload_version: version,
    payload,
    payload_hash,
    issuer_signature: {
      jws: issuer.signJws({ ...signed }),
      kid: issuer.kid,
      alg: 'ES256',
      value: issuer.signCanonical(canonicalJson(payload)),
    },
    signature: issuer.signature(payload_hash),
    profile: 'development',
  };
}

const versions = Object.entries(payloadVersions).map(([version, row]) => [Number(version), row] as const);

describe.each(versions)('payload version %i', (version, row) => {
  it('verifies, as itself and with its book', async () => {
    const verified = verifyReceipt(await ofVersion(version), issuer.jwks);
    expect(verified).toMatchObject({ kind: 'valid', claim_id: row.legacy ? 'legacy' : 7 });
  });

  it('is refused where it does not sign what it must, claim by claim', async () => {
    for (const name of row.signs) {
      for (const change of [(it: Members) => without(it, [name]), (it: Members) => ({ ...it, [name]: null })]) {
        const verified = verifyReceipt(await ofVersion(version, change), issuer.jwks);
        expect(verified.kind, name).toBe('invalid');
        if (verified.kind === 'invalid') expect(['version_unknown', 'shape_invalid']).toContain(verified.code);
      }
    }
  });

  it('is refused where an outer copy of what it signs is another, member by member', async () => {
    const document = await ofVersion(version);
    const claims = claimsIn(document);
    const copied = Object.keys(document).filter(name => name in claims && name !== 'payload');
    expect(copied.length).toBeGreaterThan(2);
    for (const name of copied) {
      const other = typeof document[name] === 'number' ? Number(document[name]) + 1 : { other: true };
      for (const forged of [other, typeof document[name] === 'string' ? `${String(document[name])}0` : other])
        expect(verifyReceipt({ ...document, [name]: forged }, issuer.jwks).kind, name).toBe('invalid');
    }
  });

  it('is refused where a signed claim of any name is repeated otherwise', async () => {
    const document = await ofVersion(version);
    for (const [name, claim] of Object.entries(claimsIn(document))) {
      if (name === 'payload_version' && row.legacy) continue;
      const shown = { ...document, [name]: claim };
      expect(verifyReceipt(shown, issuer.jwks).kind, `${name} as it was signed`).toBe('valid');
      const other = typeof claim === 'number' ? claim + 1 : 'another';
      expect(verifyReceipt({ ...document, [name]: other }, issuer.jwks).kind, name).toBe('invalid');
    }
  });

  it('reports what it does not sign as unsigned, and believes none of it', async () => {
    const document = await ofVersion(version);
    const full: Members = claimsIn(current);
    for (const name of (later[version] ?? []).filter(each => each in current && each !== 'payload_hash')) {
      const verified = verifyReceipt({ ...document, [name]: full[name] ?? null }, issuer.jwks);
      if (verified.kind !== 'valid') throw new Error(`${name}: ${verified.sentence}`);
      expect(verified.report.unsigned.lane, name).toContain(name);
      expect(verified.claims).not.toHaveProperty(name);
    }
  });

  it('is refused where its payload says more than its claims', async () => {
    const document = await ofVersion(version);
    for (const name of [...(later[version] ?? []), 'discount']) {
      const payload = { ...(document.payload as JsonObject), [name]: claimsIn(current)[name] ?? 'x' };
      const forged = { ...document, payload, payload_hash: canonicalHash(payload) };
      expect(verifyReceipt(forged, issuer.jwks).kind, name).toBe('invalid');
    }
  });

  it('is not another one for being called so', async () => {
    const document = await ofVersion(version);
    for (const [payload_version] of versions.filter(([each]) => each !== version)) {
      const payload = { ...(document.payload as JsonObject), payload_version };
      for (const forged of [
        { ...document, payload_version },
        { ...document, payload },
        { ...document, payload, payload_version },
      ])
        expect(verifyReceipt(forged, issuer.jwks)).toMatchObject({ kind: 'invalid' });
    }
  });
});

it.each([0, 3, 5, 7, 12, '11', 11.5, null])('version %j is unknown', async version => {
  const document = await ofVersion(11, claims => ({ ...claims, payload_version: version }));
  const verified = verifyReceipt({ ...document, payload_version: version }, issuer.jwks);
  expect(verified).toMatchObject({ kind: 'invalid', code: 'version_unknown' });
});

describe('what a token can sign by its version, and does not', () => {
  const withoutBook = (it: Members) => without(it, ['claim_id', 'book_seq']);

  it.each<[version: number, member: string, value: Json]>([
    [9, 'claim_id', 7],
    [9, 'book_seq', 1],
    [10, 'claim_id', 7],
    [11, 'claim_id', 7],
    [11, 'delegation_hash', `0x${'1'.repeat(64)}`],
    [11, 'waived_by', 'live_key'],
  ])('version %i: %s beside it is refused', async (version, member, value) => {
    const document = without(await ofVersion(version, withoutBook), ['claim_id', 'book_seq']);
    expect(verifyReceipt(document, issuer.jwks).kind).toBe('valid');
    const forged = { ...document, [member]: value };
    expect(verifyReceipt(forged, issuer.jwks)).toMatchObject({ kind: 'invalid', code: 'copy_mismatch' });
  });

  it.each<[version: number, member: string, value: Json]>([
    [8, 'claim_id', 7],
    [8, 'tree_size', 2],
    [9, 'payload_hash', 'as it is'],
    [9, 'waived_by', 'live_key'],
    [10, 'delegation_hash', `0x${'1'.repeat(64)}`],
  ])('version %i cannot sign %s: it is reported as unsigned', async (version, member, value) => {
    const document = await ofVersion(version);
    const shown = { ...document, [member]: value === 'as it is' ? (document[member] ?? null) : value };
    const verified = verifyReceipt(shown, issuer.jwks);
    expect(verified).toMatchObject({ kind: 'valid' });
    const lane: readonly string[] = verified.kind === 'valid' ? verified.report.unsigned.lane : [];
    // The hash of the payload is computed again under any name.
    expect(lane.includes(member)).toBe(member !== 'payload_hash');
  });

  it('version 8 with a payment and a claim_id of null beside it is refused', async () => {
    const document = await ofVersion(8);
    expect(verifyReceipt({ ...document, claim_id: null }, issuer.jwks)).toMatchObject({
      kind: 'invalid',
      code: 'claim_id_null',
    });
  });
});

it('in_proof is reported as not checkable, and is believed by nobody', () => {
  const proven = (in_proof: boolean) => verifyReceipt({ ...current, binding: { in_proof } }, issuer.jwks);
  expect(proven(true)).toMatchObject({
    kind: 'valid',
    report: {
      unsigned: { lane: expect.arrayContaining(['binding']) },
      unchecked: expect.arrayContaining([expect.stringContaining('binding.in_proof')]),
    },
  });
  expect(JSON.stringify(proven(false))).not.toContain('in_proof');
});

describe('book chain', () => {
  it('is what is issued where the payment is none of ours: book and payment side by side', () => {
    expect(claimsIn(chained)).toMatchObject({
      payload_version: 4,
      book_id: 7,
      payment_ref: chained_ref,
      task_id: foreign.task_id,
      claim_id: 7,
      ...foreignPayment,
    });
    expect(claimsIn(chained)).not.toHaveProperty('payment');
    expect(chained).toMatchObject({ book_id: 7, payment_ref: chained_ref, payload_version: 4, amount: '1500000' });
    expect(verifyReceipt(chained, issuer.jwks)).toMatchObject({ kind: 'valid', claim_id: 7 });
    expect(JSON.stringify(verifyReceipt(chained, issuer.jwks))).toContain(`look up ${chained_ref}`);
  });

  it.each<[what: string, path: readonly string[], value: Json]>([
    ['book_id', ['book_id'], 8],
    ['claim_id', ['claim_id'], 8],
    ['payment_ref', ['payment_ref'], 'base:0x00'],
    ['payment_ref', ['payment_ref'], null],
    ['payee', ['observed_transfer', 'pay_to'], '0x01'],
    ['amount', ['observed_transfer', 'amount'], '1500001'],
    ['amount of its own', ['amount'], '1500001'],
    ['word on its payer', ['payer_proven'], false],
    ['book_id of the payload', ['payload', 'book_id'], 8],
    ['payment_ref of the payload', ['payload', 'payment_ref'], 'base:0x00'],
  ])('fails with another %s', (_, path, value) => {
    expect(verifyReceipt(alter(chained, path, () => value) as JsonObject, issuer.jwks).kind).toBe('invalid');
  });

  it.each<[what: string, change: (claims: Members) => Members, code: string]>([
    ['signs a payment of ours, too', it => ({ ...it, payment: { ref: 'base:0x01' } }), 'book_chain_invalid'],
    ['says that a key stood in', it => ({ ...it, waived_by: 'live_key' }), 'book_chain_invalid'],
    ['names two books', it => ({ ...it, book_id: 8 }), 'book_chain_invalid'],
    ['names no book', it => without(it, ['book_id']), 'version_unknown'],
    ['names no payment', it => without(it, ['payment_ref']), 'version_unknown'],
    ['has a book of another type', it => ({ ...it, book_id: '7' }), 'shape_invalid'],
    ['has an empty payment', it => ({ ...it, payment_ref: '' }), 'shape_invalid'],
    ['has looked up another transfer', it => ({ ...it, payment_ref: 'base:0x01' }), 'book_chain_invalid'],
    ['does not say whose payer it has', it => without(it, ['payer_proven']), 'book_chain_invalid'],
    ['names a payer and no transfer', it => without(it, ['observed_transfer']), 'book_chain_invalid'],
    ['has an amount of another type', it => ({ ...it, observed_transfer: { amount: 1 } }), 'shape_invalid'],
  ])('fails where its issuer %s', async (_, change, code) => {
    const document = await ofVersion(4, change);
    const { book_id: _b, payment_ref: _p, observed_transfer: _o, payer_proven: _w, amount: _a, ...bare } = document;
    expect(verifyReceipt(bare, issuer.jwks)).toMatchObject({ kind: 'invalid', code });
  });

  it.each<[name: string, value: Json]>([
    ['book_id', 7],
    ['payment_ref', 'base:0x01'],
    ['observed_transfer', foreignPayment.observed_transfer],
    ['payer_proven', true],
  ])('alone signs %s', async (name, value) => {
    const document = await ofVersion(11, claims => ({ ...claims, [name]: value }));
    expect(verifyReceipt(document, issuer.jwks)).toMatchObject({ code: 'book_chain_invalid' });
  });

  it.each<[what: string, facts: Partial<ReceiptFacts>]>([
    ['without a book', { agent_id: null }],
    ['beside a payment of ours', { payment: paidCall.payment }],
    ['beside a key that stood in', { waived_by: 'live_key' }],
  ])('is not issued %s', async (_, facts) => {
    await expect(issue({ ...foreign, ...facts })).rejects.toThrow(RangeError);
  });
});

describe('what a receipt signs', () => {
  const refused = async (change: (claims: Members) => Members) =>
    verifyReceipt(await ofVersion(11, change), issuer.jwks);
  const payment = claimsIn(current).payment as JsonObject;
  const tolerance = { amount_atomic: '10', clock_seconds: 60 };

  it.each<[what: string, members: Members, code: string]>([
    ['caller_binding that is no object', { caller_binding: 'me' }, 'shape_invalid'],
    ['a payer_wallet that is no text', { caller_binding: { payer_wallet: 7 } }, 'shape_invalid'],
    ['a claim_id of null beside a payment', { claim_id: null }, 'claim_id_null'],
    ['a claim_id that is no number', { claim_id: '7' }, 'shape_invalid'],
    [
      'a settled amount beyond its tolerance',
      { payment: { ...payment, settled_amount: '1999' } },
      'tolerance_exceeded',
    ],
    ['a tolerance that is no amount', { tolerance: { amount_atomic: '1.5', clock_seconds: 60 } }, 'shape_invalid'],
    ['a tolerance of less than no time', { tolerance: { amount_atomic: '0', clock_seconds: -1 } }, 'shape_invalid'],
    ['issuer_history without a hash', { issuer_history: { version: 1, seq: 1 } }, 'shape_invalid'],
    ['issuer_history without its seq', { issuer_history: { version: 1, hash: 'a' } }, 'shape_invalid'],
    ['provider_cogs that are no integers', { provider_cogs: { actual: 1.5, usd_mark: 2 } }, 'shape_invalid'],
    ['provider_cogs as text', { provider_cogs: { actual: '1', usd_mark: '2' } }, 'shape_invalid'],
    ['provider_cogs below nothing', { provider_cogs: { actual: -1, usd_mark: 2 } }, 'shape_invalid'],
    ['a session that had ended', { session_expiry: 1 }, 'session_expired'],
    ['a session that had not begun', { valid_after: 9_999_999_999 }, 'session_expired'],
    ['a session without an end', { delegation_hash: '0x01' }, 'session_expired'],
    ['a session of nobody', { delegation_hash: '0x01', session_expiry: 9_999_999_999 }, 'session_expired'],
    ['a delegation_hash that is no text', { delegation_hash: 1 }, 'shape_invalid'],
    ['a parent_receipt_id that is no text', { parent_receipt_id: 1 }, 'shape_invalid'],
  ])('fails with %s', async (_, members, code) => {
    expect(await refused(claims => ({ ...claims, ...members }))).toMatchObject({ kind: 'invalid', code });
  });

  it.each<[what: string, members: Members]>([
    ['within its tolerance', { tolerance, payment: { ...payment, settled_amount: '1990' } }],
    ['with what the work cost', { provider_cogs: { actual: 3, usd_mark: 2000 } }],
    [
      'of a session in force',
      {
        delegation_hash: '0x01',
        session_expiry: 9_999_999_999,
        valid_after: 1,
        caller_binding: { ...paidCall.caller_binding, agent_pubkey: '0x02' } as JsonObject,
      },
    ],
  ])('holds %s, and a copy that says otherwise fails', async (_, members) => {
    const { caller_binding: _c, ...document } = await ofVersion(11, claims => ({ ...claims, ...members }));
    expect(verifyReceipt(document, issuer.jwks)).toMatchObject({ kind: 'valid' });
    for (const [name, member] of Object.entries(members)) {
      expect(verifyReceipt({ ...document, [name]: member }, issuer.jwks).kind, name).toBe('valid');
      expect(verifyReceipt({ ...document, [name]: 'another' }, issuer.jwks).kind, name).toBe('invalid');
    }
  });

  it.each(['jwks_uri', 'issuer_history_uri', 'receipt_policy_uri', 'preimage_uri'])(
    'fails where verification.%s leads elsewhere',
    name => {
      for (const link of ['https://evil.example/keys', `${base_url}.evil.example/.well-known/jwks.json`]) {
        const forged = alter(current, ['verification', name], () => link) as JsonObject;
        expect(verifyReceipt(forged, issuer.jwks)).toMatchObject({ code: 'link_foreign' });
      }
    },
  );
});
