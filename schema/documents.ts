/** The `schema` member of every document that this service signs or publishes: the shape's name and its version. */
export const documents = {
  log_break: 'svc402.log_break.v1',
  receipt: 'svc402.receipt.v1',
  refusal: 'svc402.refusal.v1',
  issuer_history: 'svc402.issuer_history.v1',
  receipt_policy: 'svc402.receipt_policy.v1',
  receipt_policy_history: 'svc402.receipt_policy_history.v1',
  revocations: 'svc402.revocations.v1',
  key_revocation: 'svc402.key_revocation.v1',
  receipt_audit: 'svc402.receipt_audit.v1',
  refusal_audit: 'svc402.refusal_audit.v1',
  book_webhook: 'svc402.book_webhook.v1',
  book_seq_report: 'svc402.book_seq_report.v1',
  book_audit: 'svc402.book_audit.v1',
  book_pull_export: 'svc402.book_pull_export.v1',
  export_coverage: 'svc402.export_coverage.v1',
  inflow_claim: 'svc402.inflow_claim.v1',
  dispute_verdict: 'svc402.dispute_verdict.v1',
  reconciliation: 'svc402.reconciliation.v1',
  log_totals: 'svc402.log_totals.v1',
  book_total: 'svc402.book_total.v1',
  payment_proof: 'svc402.payment_proof.v1',
  endpoint_score: 'svc402.endpoint_score.v2',
} as const;

/** `typ` in the header of the token `addresses` of the key set, so that no other token of the issuer counts as one (RFC 8725 §3.11). */
export const ADDRESSES_TYP = 'svc-addresses+jwt';
