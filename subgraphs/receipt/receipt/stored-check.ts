import { canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { memberList, signedMembers } from '../../../schema/receipt-facts.ts';
import { namesNoPayment, settlementBasis } from '../../../schema/receipt-payload.ts';
import { LOG_ID, treeHeadHash } from '../log/tree-head.ts';
import { parseJws } from '../verify/signature.ts';
import { columnText } from './document.ts';
import type { Receipt } from './receipt.entity.ts';

/** Members of the token that are not members of the payload (RFC 7519 §4.1 defines the first three). */
const besidePayload = [
  ...(['iss', 'iat', 'jti', 'payload_hash', 'tree_head_hash', 'tree_size', 'leaf_index', 'book_seq'] as const),
  'collected_at',
] as const;

/**
 * First column of a stored receipt that differs from what was signed. Null if all agree. The check costs one hash and the decoding of a
 * token, about a tenth of verifying the signatures. That is left to readers with the public keys.
 */
export function receiptFault(receipt: Receipt): string | null {
  if (sha256Hex(receipt.payload) !== receipt.payloadHash) return 'payload_hash';
  const jws = parseJws(receipt.jws);
  if (jws === null || jws.header.kid !== receipt.kid) return 'jws';
  const claims = jws.claims;
  const payload = withoutMembers(claims, besidePayload);
  if (canonicalJson(payload) !== receipt.payload) return 'payload';
  const facts = signedMembers(claims);
  const altered = memberList.find(({ column, signed, property }, at) => {
    if (column === undefined || signed === undefined) return false;
    return columnText(receipt, property) !== (facts[at] ?? null);
  });
  if (altered) return altered.column ?? altered.name;
  if (payload.task_id !== receipt.taskId) return 'task_id';
  const { treeSize: tree_size, rootHash: root_hash } = receipt;
  if (treeHeadHash({ log_id: LOG_ID, tree_size, root_hash }) !== claims.tree_head_hash) return 'root_hash';
  return isSettlementSound(receipt, settlementBasis(payload), namesNoPayment(payload)) ? null : 'proof_outcome';
}

/**
 * Whether the unsigned facts of a receipt agree with each other and with what it signs. A transfer that was seen stays seen, and without a
 * payment there is no transfer to see. A payment that was vouched for is either still awaited, or was seen since (`ingressReceipt` then
 * says where), or was given up (`omissionRule` then says why).
 */
function isSettlementSound(receipt: Receipt, basis: Json, unpaid: boolean): boolean {
  const { settledBy, proofOutcome, ingressReceipt, omissionRule } = receipt;
  const bare = ingressReceipt === null && omissionRule === null;
  if (basis !== 'receipt') return settledBy === basis && proofOutcome === (unpaid ? 'none' : 'settled') && bare;
  if (proofOutcome === 'settled')
    return settledBy === 'observed_transfer' && typeof ingressReceipt?.ref === 'string' && omissionRule === null;
  if (settledBy !== 'receipt' || ingressReceipt !== null) return false;
  return omissionRule === null ? proofOutcome === 'pending' : proofOutcome === 'unverified';
}

export function withoutMembers(members: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}
