import { canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { LOG_ID, treeHeadHash } from '../log/tree-head.ts';
import { parseJws } from '../verify/signature.ts';
import type { Receipt } from './receipt.entity.ts';

/** The token's members that are none of the payload's (RFC 7519 §4.1 names the first three). */
const besidePayload = [
  ...(['iss', 'iat', 'jti', 'payload_hash', 'tree_head_hash', 'tree_size', 'leaf_index', 'book_seq'] as const),
  'collected_at',
] as const;

/**
 * What of a stored receipt is not as it was signed: the name of the first column, null where all agree. A hash and a
 * decoded token, about a tenth of what its signatures would cost: those a stranger checks, who holds the public keys.
 */
export function receiptFault(receipt: Receipt): string | null {
  if (sha256Hex(receipt.payload) !== receipt.payloadHash) return 'payload_hash';
  const jws = parseJws(receipt.jws);
  if (jws === null || jws.header.kid !== receipt.kid) return 'jws';
  const claims = jws.claims;
  const payload = withoutMembers(claims, besidePayload);
  if (canonicalJson(payload) !== receipt.payload) return 'payload';
  const facts = { ...placeOf(receipt, claims), ...callOf(receipt, payload) };
  const altered = Object.entries(facts).find(([, [stored, signed]]) => (stored ?? null) !== (signed ?? null));
  if (altered) return altered[0];
  return isLane(receipt, payload.settled_by ?? null, payload.waived_by ?? null) ? null : 'proof_outcome';
}

type Copies = Readonly<Record<string, readonly [stored: unknown, signed: unknown]>>;

/** Where it stands: in the log and on its book. */
function placeOf(receipt: Receipt, claims: JsonObject): Copies {
  const { treeSize: tree_size, rootHash: root_hash } = receipt;
  return {
    task_id: [receipt.taskId, claims.jti],
    payload_hash: [receipt.payloadHash, claims.payload_hash],
    leaf_index: [receipt.leafIndex, claims.leaf_index],
    tree_size: [tree_size, claims.tree_size],
    tree_head_hash: [receipt.treeHeadHash, claims.tree_head_hash],
    root_hash: [treeHeadHash({ log_id: LOG_ID, tree_size, root_hash }), claims.tree_head_hash],
    book_seq: [receipt.bookSeq, claims.book_seq],
    collected_at: [receipt.collectedAt.toISOString(), claims.collected_at],
  };
}

/** What was bought, by whom, for how much. */
function callOf(receipt: Receipt, payload: JsonObject): Copies {
  const payment = (payload.payment ?? {}) as JsonObject;
  const { payer_wallet } = payload.caller_binding as JsonObject;
  return {
    payload_version: [receipt.payloadVersion, payload.payload_version],
    payload_task_id: [receipt.taskId, payload.task_id],
    agent_id: [receipt.agentId, payload.claim_id],
    hub: [receipt.hub, payload.hub],
    model: [receipt.model, payload.model],
    payment_ref: [receipt.paymentRef, payment.ref],
    amount: [receipt.amount?.toString(), payment.gross_amount],
    payer_wallet: [receipt.payerWallet, payer_wallet],
    issued_at: [receipt.issuedAt.toISOString(), payload.issued_at],
  };
}

/**
 * The unsigned facts beside it: a transfer that was seen stays seen, and nothing is there to see where none was paid.
 * What was vouched for is still awaited, was seen since (then it says where), or was given up (then it says why).
 */
function isLane(receipt: Receipt, settled_by: Json, waived_by: Json): boolean {
  const { settledBy, proofOutcome, ingressReceipt, omissionRule } = receipt;
  const bare = ingressReceipt === null && omissionRule === null;
  if (settled_by !== 'receipt')
    return settledBy === settled_by && proofOutcome === (waived_by === null ? 'settled' : 'none') && bare;
  if (proofOutcome === 'settled')
    return settledBy === 'observed_transfer' && typeof ingressReceipt?.ref === 'string' && omissionRule === null;
  if (settledBy !== 'receipt' || ingressReceipt !== null) return false;
  return omissionRule === null ? proofOutcome === 'pending' : proofOutcome === 'unverified';
}

export function withoutMembers(members: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}
