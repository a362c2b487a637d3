/** The `schema` member of every document that this service signs or publishes: the shape's name and its version. */
export const documents = {
  log_break: 'svc402.log_break.v1',
  receipt: 'svc402.receipt.v1',
  refusal: 'svc402.refusal.v1',
  issuer_history: 'svc402.issuer_history.v1',
  receipt_policy: 'svc402.receipt_policy.v1',
  receipt_policy_history: 'svc402.receipt_policy_history.v1',
  book_webhook: 'svc402.book_webhook.v1',
  book_seq_report: 'svc402.book_seq_report.v1',
  book_audit: 'svc402.book_audit.v1',
  book_pull_export: 'svc402.book_pull_export.v1',
  export_coverage: 'svc402.export_coverage.v1',
  inflow_claim: 'svc402.inflow_claim.v1',
} as const;
