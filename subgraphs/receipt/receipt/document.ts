import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { receiptLinks, verifyUrl } from '../../../schema/links.ts';
import { type MadeMember, memberList, signedMembers } from '../../../schema/receipt-facts.ts';
import { type LaneFacts, laneFacts, lanePayment } from '../../../schema/receipt-lane.ts';
import type { ReceiptPayload } from '../../../schema/receipt-shapes.ts';
import { notSettledHere } from '../../../schema/router/work-report.ts';
import { LOG_ID } from '../log/tree-head.ts';
import type { Receipt } from './receipt.entity.ts';

const HOW =
  'Verify issuer_signature.jws (ES256) with the key named by its kid, compare its claims with this document, and look up payment_ref on its network. For a key that the set marks `revoked`, only receipts that its log held by then count: ?format=auditor has the proof.';

/**
 * The public receipt: the `svc` member of a paid answer and the body of GET /receipt/{task_id}. A member without a value is left out,
 * except payment_ref and settled_by, which are then null. Everything can be checked offline except the lane's facts, which may change:
 * `proof_outcome`, `settled_by`, `ingress_receipt`, `omission_rule`, `answered_again`, and the members that schema/receipt-lane.ts derives
 * from them.
 * @param newest_size number of leaves under the newest known tree head; null if none is known
 */
export function receiptDocument(
  receipt: Receipt,
  base_url: string,
  profile: 'development' | 'production',
  newest_size: number | null = null,
): JsonObject {
  const payload = JSON.parse(receipt.payload) as ReceiptPayload;
  const { jws, kid, value } = receipt;
  const made: Readonly<Record<MadeMember, Json>> = {
    verify_url: verifyUrl(base_url, receipt.taskId),
    payload,
    log_id: LOG_ID,
    issuer_signature: { jws, kid, value, alg: 'ES256' },
    verification: {
      ...receiptLinks(base_url, receipt.taskId),
      how: isJsonObject(payload.reported) ? `${notSettledHere(payload.reported)} ${HOW}` : HOW,
    },
    profile: payload.profile ?? profile,
    chain_ended: receipt.chainEnded || null,
    ...laneOf(receipt, payload, newest_size),
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

/** Unsigned facts of a receipt. */
export function laneOf(receipt: Receipt, payload: JsonObject, newest_size: number | null): LaneFacts & JsonObject {
  const { treeSize: tree_size, bookSeq: book_seq, settledBy: settled_by, proofOutcome: proof_outcome } = receipt;
  const payment = lanePayment(payload);
  const subject = { tree_size, book_seq, settled_by, proof_outcome, ingress_receipt: receipt.ingressReceipt, payment };
  return { ...laneFacts(subject, newest_size) };
}

/** Value of a column, spelled as in the document and in the signed bytes. */
export function columnText(receipt: Receipt, property: string): Json {
  const value = receipt[property as keyof Receipt] ?? null;
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Date ? value.toISOString() : value;
}
