import {
  canonicalHash,
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { receiptLinks, verifyUrl } from '../../../schema/links.ts';
import { memberList, receiptMembers, signedFact } from '../../../schema/receipt-facts.ts';
import { isFrozen, isUnverifiable, type LaneSubject, lanePayment, localCheck } from '../../../schema/receipt-lane.ts';
import { namesNoPayment, payloadVersionOf, settlementBasis, waivers } from '../../../schema/receipt-payload.ts';
import { isInbound } from '../../../schema/router/work-report.ts';
import { wordList } from '../../../schema/words.ts';
import { type Addresses, linkFault, linksWithin, type ShownLink } from './addresses.ts';
import { isSameJson } from './report.ts';
import { BesideShape, ClaimShape, misshapen } from './shape.ts';
import { type Jwks, verifyEd25519, verifyEip191 } from './signature.ts';
import { issuerSigned, type Rule, rawValueSigns, type SignedDocument, unless } from './signed-document.ts';

/** A receipt that was parsed but not verified. */
export interface OpenedReceipt extends SignedDocument {
  readonly claims: JsonObject;
  readonly addresses: Addresses;
}

/** Rules in the order in which they are checked: each may rely on all before it. */
export const rules: readonly Rule<OpenedReceipt>[] = [
  ...issuerSigned,
  {
    code: 'shape_invalid',
    says: 'Every member that the checks use has the expected type.',
    fault: ({ claims, document }) => shapeFault(claims, document),
  },
  {
    code: 'version_unknown',
    says: 'The payload version is known, and every claim that it requires is signed.',
    fault: ({ claims }) => versionFault(claims),
  },
  {
    code: 'payload_hash_mismatch',
    says: 'payload_hash is the SHA-256 of the canonical payload.',
    fault: ({ claims, document, payload }) =>
      unless(
        sha256Hex(canonicalJson(payload)) === (claims.payload_hash ?? document.payload_hash),
        'The payload does not have the signed payload_hash: it was altered, or belongs to another receipt.',
      ),
  },
  {
    code: 'copy_mismatch',
    says: 'Every member that repeats a signed claim has the same value as the claim.',
    fault: opened => copyFault(opened),
  },
  rawValueSigns({ required: false }),
  {
    code: 'receipt_signatures_invalid',
    says: 'The primary signature or the co-signature of payload_hash is valid. One of them is enough.',
    fault: opened => {
      const { document, claims } = opened;
      const { signature, co_signature } = document;
      if (payloadVersionOf(claims)?.legacy && signature === undefined && co_signature === undefined) return null;
      const either = signsBeside('signature', opened) || signsBeside('co_signature', opened);
      return unless(either, 'Neither signature nor co_signature is a valid signature of payload_hash.');
    },
  },
  {
    code: 'claim_id_null',
    says: 'A receipt that names a payment also names the book that it belongs to.',
    fault: ({ claims, document }) =>
      unless(
        (claims.claim_id !== null && document.claim_id !== null) || signedPaymentRef(claims) === undefined,
        'The receipt names a payment, but its claim_id is null: it names no book.',
      ),
  },
  {
    code: 'book_chain_invalid',
    says: 'Only a receipt without a payment to this service signs book_id, payment_ref or observed_transfer.',
    fault: ({ claims }) => bookChainFault(claims),
  },
  {
    code: 'tolerance_exceeded',
    says: 'The settled amount equals the price, within the signed tolerance.',
    fault: ({ claims }) => toleranceFault(claims),
  },
  {
    code: 'waiver_invalid',
    says: 'The receipt does not name both a payment and an API key that was used instead of one.',
    fault: ({ claims }) => waiverFault(claims),
  },
  {
    code: 'reported_invalid',
    says: 'A receipt for reported work that was done elsewhere names no payment to this service, no payer and no API key.',
    fault: ({ claims }) => reportedFault(claims),
  },
  {
    code: 'hand_off_invalid',
    says: 'A hand-off receipt names its parent receipt, its target agent and its session, and no payment, payer or API key.',
    fault: ({ claims }) => handedOnFault(claims),
  },
  {
    code: 'legs_invalid',
    says: 'If the price was paid in two payments (payee and fee), both are signed, and the first is the payment of the receipt.',
    fault: ({ claims }) => legsFault(claims),
  },
  {
    code: 'place_invalid',
    says: 'The receipt is the last leaf of the tree head that it signs.',
    fault: ({ claims, document }) =>
      unless(
        claims.tree_size === undefined || endsWith(claims.tree_size, claims.leaf_index),
        'The signed leaf_index is not the index of the last leaf of the signed tree head.',
      ) ?? rootFault(document, claims),
  },
  {
    code: 'session_expired',
    says: 'The receipt was signed while its session, if it has one, was valid.',
    fault: ({ claims }) => sessionFault(claims),
  },
  {
    code: 'link_foreign',
    says: 'Every link points to the issuer.',
    fault: opened => linkFault(linksIn(opened), opened.addresses),
  },
];

function shapeFault(claims: JsonObject, document: JsonObject): string | null {
  const claim = misshapen(ClaimShape, claims);
  if (claim !== null) return `The signed claim ${claim} has the wrong type.`;
  const member = misshapen(BesideShape, document);
  return member === null ? null : `${member} has the wrong type or format.`;
}

function endsWith(tree_size: Json, leaf_index: Json | undefined): boolean {
  return typeof leaf_index === 'number' && tree_size === leaf_index + 1;
}

/**
 * The fault of log_id and root_hash; null if there is none. Only tree_head_hash signs them, so they must have that hash if they are shown.
 * They are hashed without conversion: a log_id of `true` is not 1.
 */
function rootFault({ log_id, root_hash }: JsonObject, { tree_size, tree_head_hash }: JsonObject): string | null {
  if (log_id === undefined && root_hash === undefined) return null;
  const shown = { log_id: log_id ?? null, tree_size: tree_size ?? null, root_hash: root_hash ?? null };
  return unless(canonicalHash(shown) === tree_head_hash, 'log_id and root_hash do not have the signed tree_head_hash.');
}

export const signedPaymentRef = (claims: JsonObject) => signedFact(claims, receiptMembers.payment_ref) ?? undefined;

/** The fault of the settled amount; null if there is none. Amounts are digits in atomic units. Early versions may not sign all of them. */
function toleranceFault({ payment, tolerance }: JsonObject): string | null {
  const [paid, allowed] = [isJsonObject(payment) ? payment : {}, isJsonObject(tolerance) ? tolerance : {}];
  const { gross_amount: gross, settled_amount } = paid;
  const { amount_atomic = '0' } = allowed;
  if (gross === undefined || settled_amount === undefined) return null;
  const off = BigInt(String(gross)) - BigInt(String(settled_amount));
  return unless(
    (off < 0n ? -off : off) <= BigInt(String(amount_atomic)),
    'settled_amount differs from gross_amount by more than the signed tolerance.',
  );
}

/** A call with an API key has no payment: any member that names one contradicts it. */
function waiverFault(claims: JsonObject): string | null {
  const { waived_by, payment, caller_binding } = claims;
  if (waived_by === undefined) return null;
  if (!wordList(waivers).some(kind => kind === waived_by)) return 'waived_by has an unknown value.';
  const bound = isJsonObject(caller_binding) ? caller_binding : {};
  if (payment !== undefined || settlementBasis(claims) !== null || bound.payer_wallet !== undefined)
    return 'The receipt names both a payment and an API key that was used instead of one.';
  return unless(
    typeof bound.api_key_hash === 'string',
    'The receipt does not name the API key that was used instead of a payment.',
  );
}

interface Copy {
  readonly name: string;
  /** Finds the signed fact that the member repeats. */
  signed(claims: JsonObject): Json | undefined;
  /** The first payload version that can sign it. */
  readonly since: number;
}

/** Members of the document that repeat a signed fact. */
export const copies: readonly Copy[] = memberList.flatMap((member): Copy[] => {
  const { name, signed, hidden, null_if_none, since = 0 } = member;
  if (signed === undefined || hidden) return [];
  const absent = null_if_none ? null : undefined;
  return [{ name, signed: claims => signedFact(claims, member) ?? absent, since }];
});

/**
 * Whether the payload version of the token is too early to sign the member: the member is then reported as unsigned. A member that the
 * version can sign, and this token does not sign, is a fault.
 */
function isLater({ since }: Copy, claims: JsonObject): boolean {
  return payloadVersionOf(claims)?.family === 'receipt' && since > Number(claims.payload_version);
}

const shown = new Set(memberList.flatMap(({ name, hidden }) => (hidden ? [] : [name])));

/** Signed facts that a receipt usually does not repeat. A member that does repeat one is checked against it. */
export function otherClaims(claims: JsonObject): readonly (readonly [name: string, claim: Json])[] {
  return Object.entries(claims).filter(([name]) => !shown.has(name));
}

function copyFault({ document, payload, claims }: OpenedReceipt): string | null {
  for (const [name, member] of Object.entries(payload)) {
    if (!isSameJson(member, claims[name])) return `payload.${name} disagrees with the signed claim.`;
  }
  for (const each of copies) {
    const copy = document[each.name];
    const claim = each.signed(claims);
    if (copy === undefined || isSameJson(copy, claim) || (claim === undefined && isLater(each, claims))) continue;
    return `${each.name} disagrees with the signed claim.`;
  }
  for (const [name, claim] of otherClaims(claims)) {
    const copy = document[name];
    if (copy !== undefined && !isSameJson(copy, claim)) return `${name} disagrees with the signed claim.`;
  }
  return (
    laneFault(document, claims) ??
    derivedLaneFault(document, claims) ??
    unless(
      claims.profile === undefined || document.profile === claims.profile,
      'profile disagrees with the signed claim.',
    )
  );
}

/**
 * The fault of the unsigned facts in the lane; null if there is none. They may state that a vouched transfer was seen later, or was not
 * found. About a transfer that was signed as seen, they must agree with the signed claims.
 */
function laneFault({ settled_by, proof_outcome, ingress_receipt, omission_rule }: JsonObject, claims: JsonObject) {
  const basis = settlementBasis(claims);
  const unsigned = basis === null && signsLess(claims);
  const seen_since = basis === 'receipt' && settled_by === 'observed_transfer';
  if (settled_by !== undefined && settled_by !== basis && !seen_since && !unsigned)
    return 'settled_by contradicts the signed claims.';
  if (basis === 'receipt') return null;
  const only = namesNoPayment(claims) ? 'none' : 'settled';
  if (proof_outcome !== undefined && proof_outcome !== only)
    return `proof_outcome is ${proof_outcome}, but the signed claims allow only ${only}.`;
  return unless(
    ingress_receipt === undefined && omission_rule === undefined,
    'ingress_receipt or omission_rule is present, but the issuer did not sign the payment as pending.',
  );
}

function linksIn({ document, claims }: OpenedReceipt): readonly ShownLink[] {
  const task_id = String(claims.jti);
  return [
    { name: 'verify_url', link: document.verify_url, path: verifyUrl('', task_id) },
    ...linksWithin(document.verification, receiptLinks('', task_id)),
  ];
}

/**
 * The fault of a receipt that was handed on; null if there is none. It names its parent receipt, its target agent and its session. It has
 * no payment and no API key, because those of its parent receipt must not count twice.
 */
function handedOnFault(claims: JsonObject): string | null {
  const { parent_receipt_id, target_agent, delegation_hash, caller_binding, payment, payment_ref, book_id } = claims;
  if (parent_receipt_id === undefined && target_agent === undefined) return null;
  if (parent_receipt_id === undefined || target_agent === undefined || delegation_hash === undefined)
    return 'The receipt is a hand-off, but parent_receipt_id, target_agent or delegation_hash is missing.';
  const bound = isJsonObject(caller_binding) ? caller_binding : {};
  const paid = [payment, payment_ref, book_id, claims.legs, bound.payer_wallet].some(member => member !== undefined);
  if (paid || settlementBasis(claims) !== null) return 'The receipt is a hand-off, but names a payment.';
  const other = [claims.waived_by, claims.reported, bound.api_key_hash].some(member => member !== undefined);
  return other ? 'The receipt is a hand-off, but also names an API key or reported work.' : null;
}

/** The fault of the session; null if there is none. A receipt with a session must name its end and its key, so that it can be checked. */
function sessionFault({ iat, valid_after, session_expiry, delegation_hash, caller_binding }: JsonObject) {
  const { agent_pubkey } = isJsonObject(caller_binding) ? caller_binding : {};
  if (delegation_hash !== undefined && (session_expiry === undefined || agent_pubkey === undefined))
    return 'The receipt names a session, but its session_expiry or agent_pubkey is missing.';
  if (valid_after === undefined && session_expiry === undefined) return null;
  const early = typeof valid_after === 'number' && !(typeof iat === 'number' && iat >= valid_after);
  const late = typeof session_expiry === 'number' && !(typeof iat === 'number' && iat <= session_expiry);
  return unless(!early && !late, 'The receipt was signed before its session began or after it ended.');
}

/**
 * The fault of the derived facts in the lane, if the document shows them; null if there is none. They are unsigned, but they must follow
 * from the other members. Whether the log has grown since is left to the log's proofs, and `binding` is left to the chain.
 */
function derivedLaneFault(document: JsonObject, claims: JsonObject): string | null {
  const subject = subjectOf(document, claims);
  const expected: JsonObject = {
    freeze: isFrozen(subject, document.anchor_changed_since_binding === true),
    unverifiable_from_registry: isUnverifiable(subject),
    local_check: localCheck(subject.payment),
  };
  const other = Object.keys(expected).find(
    name => document[name] !== undefined && !isSameJson(document[name], expected[name]),
  );
  return other === undefined ? null : `${other} contradicts the members that it is derived from.`;
}

function subjectOf(document: JsonObject, claims: JsonObject): LaneSubject {
  const { settled_by, proof_outcome, ingress_receipt } = document;
  return {
    tree_size: Number(claims.tree_size ?? 0),
    book_seq: typeof claims.book_seq === 'number' ? claims.book_seq : null,
    settled_by: typeof settled_by === 'string' ? settled_by : null,
    proof_outcome: typeof proof_outcome === 'string' ? proof_outcome : '',
    ingress_receipt: isJsonObject(ingress_receipt) ? ingress_receipt : null,
    payment: lanePayment(claims),
  };
}

/** Members of the first leg that the payment of the receipt repeats, with their names in that payment. */
const REPEATED = {
  ref: 'ref',
  transfer_index: 'transfer_index',
  network: 'network',
  asset: 'asset',
  payer: 'payer',
  pay_to: 'pay_to',
  amount: 'settled_amount',
} as const;

/**
 * The fault of a purchase with two payments; null if there is none. Its receipt signs both: the payment to the payee, which is the payment
 * of the receipt, and the payment of the fee.
 */
function legsFault({ legs, payment }: JsonObject): string | null {
  if (legs === undefined) return null;
  if (!isJsonObject(payment)) return 'The receipt has two payments (legs), but no payment of its own.';
  const [payee, fee, ...others] = Array.isArray(legs) ? legs : [];
  if (!isLeg(payee, 'payee') || !isLeg(fee, 'fee') || others.length > 0)
    return 'legs is not exactly a payment to the payee followed by a payment of the fee.';
  const differs = Object.entries(REPEATED).find(([member, name]) => payee[member] !== payment[name]);
  if (differs) return `The first of the two payments (legs) differs from the payment of the receipt in ${differs[0]}.`;
  const one = payee.ref === fee.ref && payee.transfer_index === fee.transfer_index;
  return one ? 'Both payments (legs) are the same transfer.' : null;
}

function isLeg(value: Json | undefined, leg: string): value is JsonObject {
  return isJsonObject(value) && value.leg === leg;
}

/** The fault if the payload version is not known, or requires claims that are not signed; null if there is none. */
function versionFault(claims: JsonObject): string | null {
  const version = payloadVersionOf(claims);
  if (version === null)
    return 'The payload version is not known. The receipt may be newer than this verifier: update the verifier.';
  const missing = version.signs.filter(name => claims[name] === undefined || claims[name] === null);
  return unless(
    missing.length === 0,
    `Payload version ${String(claims.payload_version)} requires signed claims that are missing: ${missing.join(', ')}.`,
  );
}

/**
 * The fault of the claims about a book; null if there is none. A receipt without a payment to this service signs book_id and payment_ref
 * together, and any other receipt signs neither.
 */
function bookChainFault(claims: JsonObject): string | null {
  const { book_id, payment_ref, claim_id, payment, waived_by, observed_transfer, payer_proven } = claims;
  if (payloadVersionOf(claims)?.family !== 'book_chain')
    return unless(
      [book_id, payment_ref, observed_transfer, payer_proven].every(claim => claim === undefined),
      'book_id, payment_ref and observed_transfer may be signed only by a receipt without a payment to this service.',
    );
  if (payment !== undefined || waived_by !== undefined)
    return 'A receipt that signs book_id must not sign a payment to this service or an API key used instead of one.';
  if (claim_id !== undefined && claim_id !== book_id) return 'claim_id and book_id name different books.';
  if (!isJsonObject(observed_transfer))
    return unless(payer_proven === undefined, 'payer_proven is signed, but observed_transfer is missing.');
  const { network, transaction } = observed_transfer;
  return unless(
    payment_ref === `${String(network)}:${String(transaction)}` && typeof payer_proven === 'boolean',
    'observed_transfer is not the transfer of payment_ref, or payer_proven is missing.',
  );
}

/** Whether the receipt has an early payload version. A fact that such a version did not sign cannot disagree. */
const signsLess = (claims: JsonObject) => payloadVersionOf(claims)?.signs_less === true;

/** The job_kind of the work that each kind of reporter may report. */
const kinds = { router_book: 'router_broadcast', inbound: 'other' } as const;

/**
 * The fault of a receipt for reported work; null if there is none. A report of work that others did is not a payment, so the receipt must
 * not also name a payment or an API key. For a completion that was reported to the board, the issuer may have seen the transfer. It then
 * signs the transfer in the report and in the settlement basis, or in neither.
 */
function reportedFault(claims: JsonObject): string | null {
  const { reported, payment, waived_by, book_id, payment_ref, caller_binding, job_kind } = claims;
  if (reported === undefined) return null;
  const bound = isJsonObject(caller_binding) ? caller_binding : {};
  const paid = [payment, payment_ref, book_id, bound.payer_wallet].some(member => member !== undefined);
  const inbound = isJsonObject(reported) && isInbound(reported);
  const basis = isJsonObject(reported) ? basisOf(reported) : null;
  if (paid || settlementBasis(claims) !== basis)
    return 'The receipt is for reported work, but names a payment that the report does not allow.';
  if (waived_by !== undefined || bound.api_key_hash !== undefined)
    return 'The receipt is for reported work, but names an API key that was used instead of a payment.';
  const kind = kinds[inbound ? 'inbound' : 'router_book'];
  return job_kind === kind ? null : 'job_kind is not the one that this kind of report requires.';
}

/** The settlement basis that a report requires; null if it requires none. The report of a router is not an observation of a chain. */
function basisOf(reported: JsonObject): 'observed_transfer' | null {
  const { verified_with, payment_ref } = reported;
  const seen = isInbound(reported) && verified_with !== undefined;
  return seen && payment_ref !== undefined ? 'observed_transfer' : null;
}

/** The parts of a receipt that are needed to check the signatures beside its token. */
interface ReceiptWithClaims {
  readonly document: JsonObject;
  readonly claims: JsonObject;
  readonly jwks: Jwks;
}

const names = ['signature', 'co_signature'] as const;
type Name = (typeof names)[number];

const verifiers = { signature: verifyEd25519, co_signature: verifyEip191 } as const;
const judged = new WeakMap<ReceiptWithClaims, Partial<Record<Name, boolean>>>();

/** Whether that signature signs the receipt's payload_hash. The result is cached, because the check is a third of a verification. */
function signsBeside(name: Name, opened: ReceiptWithClaims): boolean {
  const { document, claims, jwks } = opened;
  const known = judged.get(opened) ?? {};
  judged.set(opened, known);
  known[name] ??= verifiers[name](jwks, document[name], String(claims.payload_hash ?? document.payload_hash));
  return known[name];
}

/** Names of the signatures beside the token that do not verify. */
export function brokenBeside(opened: ReceiptWithClaims): Name[] {
  return names.filter(name => opened.document[name] !== undefined && !signsBeside(name, opened));
}
