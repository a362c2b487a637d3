import { atomicAmount } from '../../../schema/amount.ts';
import { canonicalJson, type Json, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { documents } from '../../../schema/documents.ts';
import { foreignRef } from '../../../schema/observed-transfer.ts';
import { memberList, signedMembers } from '../../../schema/receipt-facts.ts';
import { BOOK_CHAIN_VERSION, PAYLOAD_VERSION_CURRENT, type ProofOutcome } from '../../../schema/receipt-payload.ts';
import type { Fulfillment, ReceiptPayload } from '../../../schema/receipt-shapes.ts';
import { iso } from '../../clock.ts';
import { asEntity, asRecord } from '../../columns.ts';
import { insertRows, type Tx } from '../../database.ts';
import { tolerance } from '../issuer/policy.ts';
import type { Ed25519Signature, Eip191Signature, Issuer } from '../issuer/signing-keys.ts';
import type { LeafPosition, OpenLog } from '../log/head.ts';
import { leafHash } from '../verify/merkle-proof.ts';
import { Receipt } from './receipt.entity.ts';
import type { ReceiptFacts } from './receipt-facts.ts';

/** A receipt without its position in the log. It is made, hashed and signed three times before the log's head is locked. */
export interface PreparedReceipt {
  readonly facts: ReceiptFacts;
  readonly payload: ReceiptPayload;
  /** Canonical JSON of the payload. This text is stored, and the leaf is made from it. */
  readonly canonical: string;
  readonly payload_hash: string;
  readonly leaf_hash: Buffer;
  readonly value: string;
  readonly signature: Ed25519Signature;
  readonly co_signature: Eip191Signature;
}

export function prepareReceipt(issuer: Issuer, facts: ReceiptFacts): PreparedReceipt {
  const payload = payloadOf(issuer, facts);
  const canonical = canonicalJson(payload);
  const payload_hash = sha256Hex(canonical);
  return {
    facts,
    payload,
    canonical,
    payload_hash,
    leaf_hash: leafHash(canonical),
    value: issuer.signCanonical(canonical),
    signature: issuer.signature(payload_hash),
    co_signature: issuer.coSignature(payload_hash),
  };
}

function payloadOf(issuer: Issuer, facts: ReceiptFacts): ReceiptPayload {
  const where_it_applies = present({
    ...bookChainOf(facts),
    claim_id: facts.agent_id,
    payment: facts.payment && { ...facts.payment },
    legs: facts.legs ? [...facts.legs] : null,
    settlement_basis: facts.settled_by,
    waived_by: facts.waived_by ?? null,
    reported: facts.reported ?? null,
    reported_parties: facts.reported_parties ?? null,
    ...facts.session,
    ...facts.handed,
    intent_id: facts.intent_id,
    attempt_index: facts.attempt_index,
    answered_model: facts.answered_model ?? null,
    answered_catalogue_model: facts.answered_catalogue_model ?? null,
    vendor_blind: facts.vendor_blind || null,
    provider_cogs: facts.provider_cogs ?? null,
    profile: facts.profile === 'development' ? facts.profile : null,
  });
  return {
    ...where_it_applies,
    schema: documents.receipt,
    payload_version: facts.chained ? BOOK_CHAIN_VERSION : PAYLOAD_VERSION_CURRENT,
    task_id: facts.task_id,
    issued_at: facts.issued_at,
    hub: facts.hub,
    model: facts.model,
    job_kind: facts.job_kind,
    request_hash: facts.request_hash,
    caller_binding: present({ ...facts.caller_binding }),
    fulfillment: facts.fulfillment as Fulfillment,
    tolerance,
    issuer_history: issuer.issuer_history,
    receipt_policy: issuer.receipt_policy,
  };
}

/**
 * Members that only a book chain signs. @throws if it has no book, or if there is also a payment to this service, because the two could not
 * be distinguished.
 */
function bookChainOf({ chained = null, agent_id, payment, waived_by = null }: ReceiptFacts) {
  if (chained === null) return {};
  if (agent_id === null || payment !== null || waived_by !== null)
    throw new RangeError('a book chain signs a book and a transfer, and no payment of ours beside them');
  const { observed_transfer, payer_proven } = chained;
  return { book_id: agent_id, payment_ref: foreignRef(observed_transfer), observed_transfer, payer_proven };
}

export interface ReceiptItem {
  readonly prepared: PreparedReceipt;
  /** Seq of the row on its book. Null for a receipt without a book. */
  readonly book_seq: number | null;
}

/**
 * Appends a leaf for each receipt in the order of `items`, signs its position and writes the receipt. The log's head is locked, so nothing
 * here waits. The caller must store the log.
 */
export function issueReceipts(tx: Tx, log: OpenLog, issuer: Issuer, items: readonly ReceiptItem[]): Receipt[] {
  const receipts = items.map(item => placeReceipt(item, log, issuer));
  insertRows(tx, 'receipt', receipts.map(asRecord));
  return receipts;
}

/** Appends a leaf for one receipt and signs its position. The receipt is not written yet. */
export function placeReceipt({ prepared, book_seq }: ReceiptItem, log: OpenLog, issuer: Issuer): Receipt {
  const { facts } = prepared;
  requireWithinSession(facts, log.collected_at_ms);
  const place = log.append(prepared.leaf_hash);
  const claims = claimsOf(prepared, place, book_seq, log.collected_at_ms, issuer.base_url);
  const receipt = {
    ...signedColumns(claims),
    rootHash: place.root_hash,
    payload: prepared.canonical,
    jws: issuer.signJws(claims),
    kid: issuer.kid,
    value: prepared.value,
    signature: prepared.signature,
    coSignature: prepared.co_signature,
    settledBy: facts.settled_by,
    proofOutcome: proofOutcomeOf(facts),
    ingressReceipt: null,
    omissionRule: null,
    answeredAgain: null,
    chainEpoch: facts.chain_epoch ?? 0,
    chainEnded: false,
  };
  return asEntity(Receipt, receipt);
}

/** Requires that the signed session is still valid. The caller has left a margin, and may prepare the receipt again. */
function requireWithinSession({ session, task_id }: ReceiptFacts, collected_at_ms: number): void {
  if (session && Math.floor(collected_at_ms / 1000) > session.session_expiry)
    throw new Error(`${task_id} names a session that was over before it was recorded`);
}

/** Values of the columns that repeat a signed fact, by property. */
function signedColumns(claims: JsonObject): object {
  const facts = signedMembers(claims);
  const columns: Record<string, unknown> = {};
  for (const [at, { column, signed, type, property }] of memberList.entries()) {
    if (column === undefined || signed === undefined) continue;
    const fact = facts[at] ?? null;
    columns[property] = fact === null || type === undefined ? fact : asKept[type](fact);
  }
  return columns;
}

const asKept = {
  digits: (fact: Json) => atomicAmount(BigInt(String(fact))),
  time: (fact: Json) => new Date(String(fact)),
} as const;

function proofOutcomeOf({ settled_by, waived_by, reported, handed }: ReceiptFacts): ProofOutcome {
  if (waived_by || reported || handed) return 'none';
  return settled_by === 'receipt' ? 'pending' : 'settled';
}

/**
 * Claims of the token: the members of the payload, and the facts that are known only once the log's head is locked. The first names are
 * those of RFC 7519 §4.1.
 */
function claimsOf(
  { payload, payload_hash }: PreparedReceipt,
  { leaf_index, tree_size, tree_head_hash }: LeafPosition,
  book_seq: number | null,
  collected_at_ms: number,
  iss: string,
): JsonObject {
  return present({
    iss,
    iat: Math.floor(collected_at_ms / 1000),
    jti: payload.task_id,
    ...payload,
    payload_hash,
    tree_head_hash,
    tree_size,
    leaf_index,
    book_seq,
    collected_at: iso(collected_at_ms),
  });
}
