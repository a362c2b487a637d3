import fc from 'fast-check';
import { canonicalHash, canonicalJson, type Json, type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { ReceiptFacts } from '../../../subgraphs/receipt/receipt/receipt-facts.ts';
import { paidCall, waivedCall } from '../vectors/receipt-facts.ts';
import { makeAuditDocument } from './audit-document.ts';
import { alter, issue, issuer, otherIssuer, paths } from './issue.ts';

/* Receipts and audit documents that an issuer could make, of each payload version, and alterations that anyone could make to them. */

/** A test case as plain data, so that a failing one is printed in full. */
export interface DocumentSpec {
  readonly version: 8 | 9 | 10 | 11;
  readonly audit: boolean;
  readonly paid: boolean;
  readonly facts: Partial<ReceiptFacts>;
  /** Claims that an older, careless or lying issuer adds to the payload. */
  readonly claims: JsonObject;
  /** Unsigned members next to the payload. */
  readonly beside: JsonObject;
  /** Alteration of the document. Null if it is not altered. */
  readonly change: { readonly at: number; readonly how: number; readonly junk: Json } | null;
}

const optional = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> =>
  fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
const rarely = (members: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: optional(members) });

const word = fc.oneof(
  fc.constantFrom('north', 'small-1', 'ä', '\u{1f600}', '__proto__', ''),
  fc.string({ maxLength: 8 }),
);
const seconds = fc.constantFrom(0, 1, 1_767_323_046, 1_767_323_047, 2_000_000_000);

const facts = optional({
  hub: word,
  model: word,
  job_kind: word,
  settled_by: fc.constantFrom('observed_transfer', 'receipt'),
  answered_model: fc.constantFrom('small-1', 'small-1-0613', 'ä'),
  answered_catalogue_model: fc.constant('small-2'),
  vendor_blind: fc.constant(true),
  provider_cogs: fc.record({ actual: fc.nat(9), usd_mark: fc.nat(9) }),
  profile: fc.constantFrom('development', 'production'),
});

const claims = rarely({
  valid_after: seconds,
  session_expiry: seconds,
  settled_by: fc.constantFrom('receipt', 'observed_transfer', null, 'else'),
  claim_id: fc.constantFrom(null, 7, 'x'),
  waived_by: fc.constantFrom('live_key', 'demo_key', 'else'),
  answered_model: fc.constantFrom('other-1', '', 7, null),
  tree_size: fc.constantFrom(2, 3, 0, 1.5),
  iat: fc.constantFrom(1, '1'),
  payload_version: fc.constantFrom(7, 8, 9, 10, 11, 12, '11'),
  tree_head_hash: fc.constantFrom('f'.repeat(64), null),
  payload_hash: fc.constantFrom('f'.repeat(64), null),
});

const beside = rarely({
  settlement_status: fc.constantFrom('settled', 'waived', 'else'),
  proof_outcome: fc.constantFrom('settled', 'pending', 'unverified', 'none', 'else'),
  settled_by: fc.constantFrom('receipt', 'observed_transfer', null),
  ingress_receipt: fc.constantFrom(
    { ref: 'base:0x01', confirmed_at: '2026-01-02T03:04:10.000Z' },
    { ref: 'base:0x01' },
  ),
  omission_rule: fc.constant('no_ingress_receipt_at_cutoff'),
  anchor_changed_since_binding: fc.boolean(),
  freeze: fc.boolean(),
  unverifiable_from_registry: fc.boolean(),
  chain_ended: fc.constantFrom(true, false),
  log_id: fc.constantFrom(1, 2, '1', true),
  discount: fc.jsonValue(),
  // Unsigned copies of claims that an early version, or a call of another kind, does not sign.
  claim_id: fc.constantFrom(null, 7, 'x'),
  book_seq: fc.constantFrom(null, 1),
  hub: fc.constantFrom('north', null),
  leaf_index: fc.constantFrom(1, null),
  payload_hash: fc.constantFrom('f'.repeat(64), null),
  waived_by: fc.constantFrom('live_key', null),
  vendor_blind: fc.constantFrom(true, null),
  answered_model: fc.constantFrom('small-1', 'small-2', null),
});

const junk = fc.oneof(fc.constantFrom<Json>(null, true, 0, '', [], {}, '\ud800'), fc.jsonValue() as fc.Arbitrary<Json>);

export const documentSpecs: fc.Arbitrary<DocumentSpec> = fc.record({
  version: fc.constantFrom(8, 9, 10, 11),
  audit: fc.nat(3).map(pick => pick === 0),
  paid: fc.nat(3).map(pick => pick !== 0),
  facts,
  claims,
  beside,
  change: fc.option(fc.record({ at: fc.nat(), how: fc.nat(5), junk }), { freq: 3 }),
}) as fc.Arbitrary<DocumentSpec>;

export async function makeDocument({
  version,
  audit,
  paid,
  facts: more,
  claims: own,
  beside: unsigned,
  change,
}: DocumentSpec) {
  const { settled_by, ...free } = more;
  const call = paid ? { ...paidCall, ...more } : { ...waivedCall, ...free };
  const book_seq = paid ? 1 : null;
  const whole = audit ? await makeAuditDocument(call, book_seq) : await issue(call, book_seq);
  const patched = { ...(await signedAs((audit ? whole.receipt : whole) as JsonObject, version, own)), ...unsigned };
  const document = audit ? evidenceFor(whole, patched, version) : patched;
  return change === null ? document : changed(document, change);
}

/**
 * Replaces the receipt of an audit document. A payload that was signed again is no leaf of the log, so the evidence of the log is left out
 * then.
 */
function evidenceFor({ log, ...audit }: JsonObject, receipt: JsonObject, version: number): JsonObject {
  const preimage = canonicalJson(receipt.payload as JsonObject);
  return {
    ...audit,
    receipt,
    preimage,
    ...(version === 11 && preimage === audit.preimage ? { log: log ?? null } : {}),
  };
}

/** Claims that each version did not sign yet. */
const later: Readonly<Record<number, readonly string[]>> = {
  8: ['tree_head_hash', 'tolerance', 'issuer_history', 'payload_hash', 'receipt_policy', 'claim_id', 'book_seq'],
  9: ['issuer_history', 'payload_hash', 'receipt_policy'],
  10: ['receipt_policy'],
  11: [],
};

/** Signs a receipt again with the same keys, as another version or another issuer would have made it. The result is consistent. */
async function signedAs(receipt: JsonObject, version: number, own: JsonObject): Promise<JsonObject> {
  if (version === 11 && Object.keys(own).length === 0) return receipt;
  const unsaid = later[version] ?? [];
  const kept = (members: JsonObject) => Object.entries(members).filter(([name]) => !unsaid.includes(name));
  const payload = { ...Object.fromEntries(kept(receipt.payload as JsonObject)), payload_version: version };
  const payload_hash = canonicalHash(payload);
  const { jws } = receipt.issuer_signature as { jws: string };
  const before = JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString()) as JsonObject;
  const hashed = unsaid.includes('payload_hash') ? {} : { payload_hash };
  const signed = issuer.signJws({ ...Object.fromEntries(kept(before)), ...payload, ...hashed, ...own } as never);
  const value = issuer.signCanonical(canonicalJson(payload));
  const { log_id: _, root_hash: __, tree_head_hash: ___, ...headless } = receipt;
  return present({
    ...(version === 8 ? headless : receipt),
    payload,
    payload_hash,
    payload_version: version,
    issuer_signature:
      version === 8
        ? { jws: signed, kid: issuer.kid, alg: 'ES256' }
        : { jws: signed, kid: issuer.kid, alg: 'ES256', value },
    signature: version === 8 ? null : await issuer.signature(payload_hash),
    co_signature: issuer.coSignature(payload_hash),
    settled_by: receipt.settled_by ?? null,
  });
}

/** Applies the alteration `how` to a document, mostly to the member that `at` selects. */
function changed(document: JsonObject, { at, how, junk: other }: NonNullable<DocumentSpec['change']>): JsonObject {
  const every = [...paths(document), ...Object.keys(document).map(name => [name])];
  const path = every[at % every.length] ?? [];
  const hows: readonly (() => Json)[] = [
    () => alter(document, path, () => other),
    () => alter(document, path, old => (typeof old === 'string' ? flipped(old, at) : other)),
    () => alter(document, path, old => [old]),
    () => without(document, path),
    () => ({ ...document, [`more_${at % 7}`]: other }),
    () => ({ ...document, co_signature: otherIssuer.coSignature(String(document.payload_hash)) }),
  ];
  return hows[how]?.() as JsonObject;
}

/** Flips the lowest bit of one character. */
function flipped(text: string, at: number): string {
  const place = text.length === 0 ? 0 : at % text.length;
  return text.slice(0, place) + String.fromCharCode((text.charCodeAt(place) || 0) ^ 1) + text.slice(place + 1);
}

function without(value: Json, [name = '', ...rest]: readonly string[]): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = value as JsonObject;
  if (rest.length > 0) return { ...members, [name]: without(members[name] ?? null, rest) };
  const { [name]: _, ...others } = members;
  return others;
}
