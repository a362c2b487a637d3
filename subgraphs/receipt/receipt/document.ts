import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { ReceiptPayload } from '../../../schema/receipt-payload.ts';
import { LOG_ID } from '../log/tree-head.ts';
import type { Receipt } from './receipt.entity.ts';

export function verifyUrl(base_url: string, task_id: string): string {
  return `${base_url}/receipt/${task_id}`;
}

/** Where everything lies that a stranger needs to check this receipt. */
function verification(base_url: string, task_id: string): JsonObject {
  return {
    jwks_uri: `${base_url}/.well-known/jwks.json`,
    issuer_history_uri: `${base_url}/.well-known/issuer-history.json`,
    receipt_policy_uri: `${base_url}/.well-known/receipt-policy-history.json`,
    preimage_uri: `${verifyUrl(base_url, task_id)}/preimage`,
    how: 'Verify issuer_signature.jws (ES256) with the key named by its kid, compare its claims with this document, and look up payment_ref on its network.',
  };
}

/**
 * The public receipt: the `svc` member of a paid answer and the body of GET /receipt/{task_id}.
 * A key is left out rather than null, except payment_ref. Everything can be checked offline but the lane's facts, which
 * may change: `proof_outcome`, `settled_by`, `ingress_receipt`, `omission_rule`.
 */
export function receiptDocument(receipt: Receipt, base_url: string, profile: 'development' | 'production'): JsonObject {
  const payload = JSON.parse(receipt.payload) as ReceiptPayload;
  const { jws, kid, value } = receipt;
  return {
    ...present({
      task_id: receipt.taskId,
      verify_url: verifyUrl(base_url, receipt.taskId),
      proof_outcome: receipt.proofOutcome,
      hub: receipt.hub,
      model: receipt.model,
      amount: receipt.amount?.toString(),
      payer_wallet: receipt.payerWallet,
      payload_version: receipt.payloadVersion,
      payload,
      payload_hash: receipt.payloadHash,
      leaf_index: receipt.leafIndex,
      tree_size: receipt.treeSize,
      log_id: LOG_ID,
      root_hash: receipt.rootHash,
      tree_head_hash: receipt.treeHeadHash,
      book_seq: receipt.bookSeq,
      caller_binding: payload.caller_binding,
      claim_id: receipt.agentId,
      issuer_signature: { jws, kid, value, alg: 'ES256' },
      signature: receipt.signature,
      co_signature: receipt.coSignature,
      settled_by: receipt.settledBy,
      waived_by: payload.waived_by ?? null,
      vendor_blind: payload.vendor_blind ?? null,
      ingress_receipt: receipt.ingressReceipt,
      omission_rule: receipt.omissionRule,
      verification: verification(base_url, receipt.taskId),
      profile: payload.profile ?? profile,
      chain_ended: receipt.chainEnded || null,
    }),
    payment_ref: receipt.paymentRef,
  };
}
