import { camel } from './camel.ts';
import type { Json, JsonObject } from './canonical-json.ts';
import { payloadVersionOf } from './receipt-payload.ts';

/** A claim of the token, or a member of one. */
type SignedPath = readonly [claim: string, member?: string];

/**
 * The members of a public receipt, one by one and in their order. Signed facts are repeated for readers, and in columns: the writer, the
 * document, the check of what is stored and the verifier all find the place of a signed fact here.
 */
export interface ReceiptMember {
  /** Its place in the token's claims. Absent if it is made for the document, or has rules of its own. */
  readonly signed?: SignedPath;
  /** Its place instead in lanes that no payment of ours pays for (book_chain). */
  readonly in_book_chain?: SignedPath;
  /** The column that repeats it. */
  readonly column?: string;
  /** How the column keeps the signed text: as bigint or as a time. */
  readonly type?: 'digits' | 'time';
  /**
   * The first payload version that can sign it. Absent: every version. A fact that a token's version cannot sign is reported, not refused.
   */
  readonly since?: 9 | 10 | 11;
  /** The document states null if the fact is absent; any other member is left out then. */
  readonly null_if_none?: true;
  /** Kept in a column only. */
  readonly hidden?: true;
}

export const receiptMembers = {
  task_id: { signed: ['jti'], column: 'task_id' },
  verify_url: {},
  proof_outcome: { column: 'proof_outcome' },
  hub: { signed: ['hub'], column: 'hub' },
  model: { signed: ['model'], column: 'model' },
  amount: {
    signed: ['payment', 'gross_amount'],
    in_book_chain: ['observed_transfer', 'amount'],
    column: 'amount',
    type: 'digits',
  },
  payer_wallet: { signed: ['caller_binding', 'payer_wallet'], column: 'payer_wallet' },
  payload_version: { signed: ['payload_version'], column: 'payload_version' },
  payload: {},
  payload_hash: { signed: ['payload_hash'], since: 10, column: 'payload_hash' },
  leaf_index: { signed: ['leaf_index'], since: 9, column: 'leaf_index' },
  tree_size: { signed: ['tree_size'], since: 9, column: 'tree_size' },
  log_id: {},
  root_hash: { column: 'root_hash' },
  tree_head_hash: { signed: ['tree_head_hash'], since: 9, column: 'tree_head_hash' },
  book_seq: { signed: ['book_seq'], since: 9, column: 'book_seq' },
  caller_binding: { signed: ['caller_binding'] },
  claim_id: { signed: ['claim_id'], since: 9, column: 'agent_id' },
  book_id: { signed: ['book_id'], since: 11 },
  observed_transfer: { signed: ['observed_transfer'], since: 11 },
  payer_proven: { signed: ['payer_proven'], since: 11 },
  legs: { signed: ['legs'], since: 11 },
  issuer_signature: {},
  signature: { column: 'signature' },
  co_signature: { column: 'co_signature' },
  settled_by: { column: 'settled_by', null_if_none: true },
  waived_by: { signed: ['waived_by'], since: 11 },
  reported: { signed: ['reported'], since: 11 },
  delegation_hash: { signed: ['delegation_hash'], since: 11 },
  valid_after: { signed: ['valid_after'], since: 11 },
  session_expiry: { signed: ['session_expiry'], since: 11 },
  parent_receipt_id: { signed: ['parent_receipt_id'], since: 11 },
  target_agent: { signed: ['target_agent'], since: 11 },
  answered_model: { signed: ['answered_model'], since: 11 },
  answered_catalogue_model: { signed: ['answered_catalogue_model'], since: 11 },
  vendor_blind: { signed: ['vendor_blind'], since: 11 },
  ingress_receipt: { column: 'ingress_receipt' },
  omission_rule: { column: 'omission_rule' },
  answered_again: { column: 'answered_again' },
  anchor_changed_since_binding: {},
  freeze: {},
  unverifiable_from_registry: {},
  local_check: {},
  binding: {},
  verification: {},
  profile: {},
  chain_ended: {},
  payment_ref: {
    signed: ['payment', 'ref'],
    in_book_chain: ['payment_ref'],
    column: 'payment_ref',
    null_if_none: true,
  },
  issued_at: { signed: ['issued_at'], column: 'issued_at', type: 'time', hidden: true },
  collected_at: { signed: ['collected_at'], column: 'collected_at', type: 'time', hidden: true },
} as const satisfies Record<string, ReceiptMember>;

type Members = typeof receiptMembers;
export type ReceiptMemberName = keyof Members;
/** Members that neither a column nor the signed payload holds. The code that makes the document supplies them. */
export type MadeMember = {
  [K in ReceiptMemberName]: Members[K] extends { readonly column: string } | { readonly signed: readonly string[] }
    ? never
    : K;
}[ReceiptMemberName];

/** With the name of the property that is its column. */
export interface NamedMember extends ReceiptMember {
  readonly name: string;
  readonly property: string;
}

export const memberList: readonly NamedMember[] = Object.entries<ReceiptMember>(receiptMembers).map(
  ([name, member]) => ({ ...member, name, property: camel(member.column ?? name) }),
);

/** The signed fact; undefined if this receipt, or its version, does not sign it. */
export function signedFact(claims: JsonObject, { signed, in_book_chain }: ReceiptMember): Json | undefined {
  const chained = in_book_chain !== undefined && payloadVersionOf(claims)?.family === 'book_chain';
  const [claim, member] = (chained ? in_book_chain : signed) ?? [];
  if (claim === undefined || member === undefined) return claim && claims[claim];
  // A foreign token may have text, a number or a list in its place, which has no member of this name.
  return (claims[claim] as JsonObject | null | undefined)?.[member];
}

/** Each member's signed fact, in the order of `memberList`; undefined if it is not signed. */
export function signedMembers(claims: JsonObject): readonly (Json | undefined)[] {
  return memberList.map(member => signedFact(claims, member));
}
