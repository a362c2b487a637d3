import { isJsonObject, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { type ReceiptPayload, signedPayment } from '../../../schema/receipt-payload.ts';
import { lookUpOf } from '../../../schema/transfer-look-up.ts';
import { iso } from '../../clock.ts';
import type { ReceiptContext } from '../context.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import { laneOf, receiptDocument } from '../receipt/document.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import { logEvidence } from './log-evidence.ts';
import { receiptChecks, receiptDoesNotProve, receiptProves, routeSentences } from './sentences.ts';

/**
 * All that an auditor needs of one receipt, in one document (GET /receipt/{task_id}?format=auditor): `npm run verify` checks
 * it offline, asking nobody for more. What it brings beside what is signed is evidence, and nobody's word.
 */
export async function receiptAudit(receipt: Receipt, context: ReceiptContext): Promise<JsonObject> {
  const { issuer, base_url, profile, clock } = context;
  await issuer.renew();
  const log = await logEvidence(context, receipt);
  const payload = JSON.parse(receipt.payload) as ReceiptPayload;
  const newest_size = context.newestSize();
  const transfer = lookUpOf(payload, receipt.ingressReceipt);
  const anchored = isJsonObject(log?.anchor);
  return present({
    schema: documents.receipt_audit,
    as_of: iso(clock.now_ms()),
    receipt: receiptDocument(receipt, base_url, profile, newest_size),
    preimage: receipt.payload,
    keys: issuer.jwks,
    issuer_history: historyOf(issuer, payload),
    receipt_policy: policyOf(issuer.policyHistory, payload),
    log,
    transfer,
    lane: laneFactsOf(receipt, payload, newest_size),
    proves: receiptProves({ in_log: log !== null, anchored }),
    does_not_prove: receiptDoesNotProve({
      moved: tokenOf(payload),
      payer_unproven: payload.payer_proven === false,
      named: routeSentences(payload),
      reported: isJsonObject(payload.reported) ? payload.reported : null,
      in_log: log !== null,
      anchored,
    }),
    checks: receiptChecks({ transfer, anchored }),
  });
}

/** What moved, in the word that people have for it; null where nothing was paid. */
function tokenOf(payload: JsonObject): string | null {
  const { rail } = signedPayment(payload) ?? {};
  return typeof rail === 'string' ? rail.toUpperCase() : null;
}

/** The snapshot whose hash was signed; null where its version signs none. */
function historyOf(issuer: Issuer, { issuer_history: signed }: JsonObject): JsonObject | null {
  return isJsonObject(signed) ? issuer.historySnapshot({ hash: String(signed.hash) }) : null;
}

/** The policy whose hash was signed, as the history shows it; null where its version signs none. */
function policyOf({ policies }: JsonObject, { receipt_policy: signed }: JsonObject): JsonObject | null {
  const hash = isJsonObject(signed) ? signed.hash : null;
  const found = Array.isArray(policies) ? policies.find(each => isJsonObject(each) && each.hash === hash) : null;
  return isJsonObject(found) ? found : null;
}

function laneFactsOf(receipt: Receipt, payload: JsonObject, newest_size: number | null): JsonObject {
  const { proofOutcome, settledBy, ingressReceipt, omissionRule, bookSeq } = receipt;
  return {
    book_seq: bookSeq,
    settled_by: settledBy,
    proof_outcome: proofOutcome,
    ingress_receipt: ingressReceipt,
    omission_rule: omissionRule,
    ...laneOf(receipt, payload, newest_size),
  };
}
