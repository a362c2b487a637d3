import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { verifyReceiptAudit, verifyRefusalAudit } from './audit.ts';
import { verifyAuditPack } from './audit-pack.ts';
import { isAgentCard, verifyAgentCard } from './beside-receipts/agent-card.ts';
import { isLogBreaks, verifyLogBreak, verifyLogBreaks } from './beside-receipts/log-break.ts';
import { keySetOfToken } from './beside-receipts/token.ts';
import { isTreeHead, verifyTreeHead } from './beside-receipts/tree-head.ts';
import { isUnsigned, verifyUnsigned } from './beside-receipts/unsigned-document.ts';
import { verifyWebhookMessage } from './beside-receipts/webhook-message.ts';
import { isDelivery, isOffer, resourceKeySet, verifyDelivery, verifyOffer } from './beside-receipts/x402-artifact.ts';
import { verifyDispute } from './dispute.ts';
import { verifyCoverage } from './export-coverage.ts';
import {
  isIssuerHistory,
  isReceiptPolicyHistory,
  isRevocations,
  verifyIssuerHistory,
  verifyReceiptPolicyHistory,
  verifyRevocations,
} from './histories.ts';
import { verifyInflowClaim } from './inflow-claim.ts';
import { verifyPullExport } from './pull-export.ts';
import { type VerifyOptions, verifyReceipt } from './receipt.ts';
import { verifyReconciliation } from './reconciliation.ts';
import { verifyRefusal } from './refusal.ts';
import type { DocumentVerification } from './report.ts';
import type { Jwks } from './signature.ts';
import { isAllowance, isIngestRecord, verifyAllowance, verifyIngestRecord } from './signed-answer.ts';
import { verifyTotals } from './totals.ts';
import { isSessionKind, verifySession } from './wallet/session.ts';
import { isWalletText, verifyWalletText } from './wallet/text.ts';

/* Verifies any JSON document that this service signs, or returns with signatures of others. It is recognised by its members. */

interface Kind {
  is(document: JsonObject): boolean;
  verify(document: JsonObject, jwks: Jwks, options: VerifyOptions): DocumentVerification;
  /** False if such documents are signed by a wallet or are unsigned, so that no key of the issuer is needed. */
  readonly needs_keys?: false;
}

/** Matches documents by their `schema`. */
const says =
  (...schemas: readonly string[]) =>
  ({ schema }: JsonObject): boolean =>
    schemas.some(each => each === schema);

/** Kinds of documents in the order in which they are tried. Any other document must be a receipt. */
const kinds = {
  refusal: { is: says(documents.refusal), verify: verifyRefusal },
  export: { is: says(documents.book_pull_export), verify: verifyPullExport },
  receipt_audit: { is: says(documents.receipt_audit), verify: verifyReceiptAudit },
  refusal_audit: { is: says(documents.refusal_audit), verify: verifyRefusalAudit },
  inflow: { is: says(documents.inflow_claim), verify: verifyInflowClaim },
  verdict: { is: says(documents.dispute_verdict), verify: verifyDispute },
  reconciliation: { is: says(documents.reconciliation), verify: verifyReconciliation },
  totals: { is: says(documents.log_totals, documents.book_total, documents.payment_proof), verify: verifyTotals },
  issuer_history: { is: isIssuerHistory, verify: verifyIssuerHistory },
  receipt_policy_history: { is: isReceiptPolicyHistory, verify: verifyReceiptPolicyHistory },
  revocations: { is: isRevocations, verify: verifyRevocations },
  ingest_record: { is: isIngestRecord, verify: verifyIngestRecord },
  allowance: { is: isAllowance, verify: verifyAllowance },
  audit_pack: { is: says(documents.book_audit), verify: verifyAuditPack, needs_keys: false },
  export_coverage: { is: says(documents.export_coverage), verify: verifyCoverage },
  log_break: { is: says(documents.log_break), verify: verifyLogBreak },
  log_breaks: { is: isLogBreaks, verify: verifyLogBreaks },
  tree_head: { is: isTreeHead, verify: verifyTreeHead },
  agent_card: { is: isAgentCard, verify: verifyAgentCard },
  offer: { is: isOffer, verify: verifyOffer },
  delivery: { is: isDelivery, verify: verifyDelivery },
  session_grant: { is: isSessionKind('session_grant'), verify: verifySession, needs_keys: false },
  session_act: { is: isSessionKind('session_act'), verify: verifySession, needs_keys: false },
  session_revocation: { is: isSessionKind('session_revocation'), verify: verifySession, needs_keys: false },
  wallet_text: { is: isWalletText, verify: verifyWalletText, needs_keys: false },
  webhook_message: { is: says(documents.book_webhook), verify: verifyWebhookMessage, needs_keys: false },
  unsigned: { is: isUnsigned, verify: verifyUnsigned, needs_keys: false },
  receipt: { is: () => true, verify: verifyReceipt },
} as const satisfies Record<string, Kind>;

export type DocumentKind = keyof typeof kinds;

export function kindOf(document: JsonObject): DocumentKind {
  const found = Object.entries<Kind>(kinds).find(([, { is }]) => is(document));
  return (found?.[0] ?? 'receipt') as DocumentKind;
}

/** Whether the key set of its issuer is needed to verify the document. */
export function needsKeys(document: JsonObject): boolean {
  const kind: Kind = kinds[kindOf(document)];
  return kind.needs_keys !== false;
}

/**
 * The signed document in an object that contains one: in an answer, a row of a book, a dispute, a reconciliation, the proof of a result or
 * the status of a session. Any other object is itself the document.
 */
export function documentIn(read: JsonObject): JsonObject {
  return (
    [read.svc, read.inflow_claim, read.verdict, read.report, read.inclusion, read.ended_by].find(isJsonObject) ?? read
  );
}

/** URL that the document names for the key set of its issuer; null if it names none. */
export function keySetUri(document: JsonObject): string | null {
  const { verification, verify_jwks, issuer_signature, jws, signatures, keys, log_breaks } = document;
  const named = [
    isJsonObject(verification) ? verification.jwks_uri : null,
    verify_jwks,
    keySetOfToken(isJsonObject(issuer_signature) ? issuer_signature.jws : jws),
    ...listed(log_breaks).map(each => keySetOfToken(each.jws)),
    ...listed(keys).map(({ statement }) => keySetOfToken(statement)),
    ...listed(signatures).map(({ protected: header }) => keySetOfToken(`${String(header)}.e30.`)),
    resourceKeySet(document),
  ];
  return named.find(uri => typeof uri === 'string') ?? null;
}

const listed = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** Verifies a document against a published key set, offline. The caller must know whose keys these are. */
export function verifyDocument(document: JsonObject, jwks: Jwks, options: VerifyOptions = {}): DocumentVerification {
  const kind: Kind = kinds[kindOf(document)];
  return kind.verify(document, jwks, options);
}
