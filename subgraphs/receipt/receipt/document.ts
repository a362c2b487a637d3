import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { receiptLinks, verifyUrl } from '../../../schema/links.ts';
import { type MadeMember, memberList, signedMembers } from '../../../schema/receipt-facts.ts';
import type { ReceiptPayload } from '../../../schema/receipt-payload.ts';
import { LOG_ID } from '../log/tree-head.ts';
import type { Receipt } from './receipt.entity.ts';

const HOW =
  'Verify issuer_signature.jws (ES256) with the key named by its kid, compare its claims with this document, and look up payment_ref on its network.';

/**
 * The public receipt: the `svc` member of a paid answer and the body of GET /receipt/{task_id}.
 * A key is left out rather than null, except payment_ref and settled_by. Everything can be checked offline but the lane's facts, which
 * may change: `proof_outcome`, `settled_by`, `ingress_receipt`, `omission_rule`.
 */
export function receiptDocument(receipt: Receipt, base_url: string, profile: 'development' | 'production'): JsonObject {
  const payload = JSON.parse(receipt.payload) as ReceiptPayload;
  const { jws, kid, value } = receipt;
  const made: Readonly<Record<MadeMember, Json>> = {
    verify_url: verifyUrl(base_url, receipt.taskId),
    payload,
    log_id: LOG_ID,
    issuer_signature: { jws, kid, value, alg: 'ES256' },
    verification: { ...receiptLinks(base_url, receipt.taskId), how: HOW },
    profile: payload.profile ?? profile,
    chain_ended: receipt.chainEnded || null,
  };
  const signed = signedMembers(payload);
  const document: Record<string, Json> = {};
  for (const [at, { name, column, property, hidden, null_if_none }] of memberList.entries()) {
    if (hidden) continue;
    const said = column ? columnText(receipt, property) : (signed[at] ?? made[name as MadeMember]);
    if ((said ?? null) !== null || null_if_none) document[name] = said ?? null;
  }
  return document;
}

/** A column as the document and the signed bytes spell it. */
export function columnText(receipt: Receipt, property: string): Json {
  const value = receipt[property as keyof Receipt] ?? null;
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Date ? value.toISOString() : value;
}
