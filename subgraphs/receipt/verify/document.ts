import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { isReceiptAudit, isRefusalAudit, verifyReceiptAudit, verifyRefusalAudit } from './audit.ts';
import { isDisputeVerdict, verifyDispute } from './dispute.ts';
import { isInflowClaim, verifyInflowClaim } from './inflow-claim.ts';
import { isPullExport, verifyPullExport } from './pull-export.ts';
import { type VerifyOptions, verifyReceipt } from './receipt.ts';
import { isReconciliation, verifyReconciliation } from './reconciliation.ts';
import { isRefusal, verifyRefusal } from './refusal.ts';
import type { Report } from './report.ts';
import type { Jwks } from './signature.ts';
import type { Check, Invalid } from './signed.ts';
import { isTotals, verifyTotals } from './totals.ts';

/* Any document that the issuer signs, recognised by what it says of itself. */

export type DocumentVerification =
  | { readonly kind: 'valid'; readonly claims: JsonObject; readonly checks: readonly Check[]; readonly report: Report }
  | Invalid;

interface Kind {
  is(document: JsonObject): boolean;
  verify(document: JsonObject, jwks: Jwks, options: VerifyOptions): DocumentVerification;
}

/** In the order in which they are asked. What is none of these has to be a receipt. */
const kinds = {
  refusal: { is: isRefusal, verify: verifyRefusal },
  export: { is: isPullExport, verify: verifyPullExport },
  receipt_audit: { is: isReceiptAudit, verify: verifyReceiptAudit },
  refusal_audit: { is: isRefusalAudit, verify: verifyRefusalAudit },
  inflow: { is: isInflowClaim, verify: verifyInflowClaim },
  verdict: { is: isDisputeVerdict, verify: verifyDispute },
  reconciliation: { is: isReconciliation, verify: verifyReconciliation },
  totals: { is: isTotals, verify: verifyTotals },
  receipt: { is: () => true, verify: verifyReceipt },
} as const satisfies Record<string, Kind>;

export type DocumentKind = keyof typeof kinds;

export function kindOf(document: JsonObject): DocumentKind {
  const found = Object.entries<Kind>(kinds).find(([, { is }]) => is(document));
  return (found?.[0] ?? 'receipt') as DocumentKind;
}

/** The document in what was read: an answer carries it, and so do a row of a book, a dispute and a reconciliation. */
export function documentIn(read: JsonObject): JsonObject {
  return [read.svc, read.inflow_claim, read.verdict, read.report].find(isJsonObject) ?? read;
}

/** Where the document says that its issuer's keys are; null where it says nothing of the kind. */
export function keySetUri(document: JsonObject): string | null {
  const uri = isJsonObject(document.verification) ? document.verification.jwks_uri : document.verify_jwks;
  return typeof uri === 'string' ? uri : null;
}

/** Verifies it against a published key set, offline. Whose keys those are is the caller's to know. */
export function verifyDocument(document: JsonObject, jwks: Jwks, options: VerifyOptions = {}): DocumentVerification {
  const kind: Kind = kinds[kindOf(document)];
  return kind.verify(document, jwks, options);
}
