/*
 * Files of the bundle of a book (`?format=bundle`): an export and everything needed to check it offline. The service and the
 * verifier share these names.
 */

export const bundleFiles = {
  /** The audit pack: svc402.book_audit.v1. */
  export: 'export.json',
  jwks: 'jwks.json',
  issuer_history: 'issuer-history.json',
  receipt_policy_history: 'receipt-policy-history.json',
  revocations: 'revocations.json',
  /** The newest signed head of the log, as JSON, and as a checkpoint (C2SP). */
  head: 'log/head.json',
  checkpoint: 'log/checkpoint',
  verifier_keys: 'log/verifier-keys',
} as const;

export const bundledReceipt = (task_id: string) => `receipts/${task_id}.json`;
/** Proof that the log has the receipt under that checkpoint (C2SP tlog-proof). */
export const bundledProof = (task_id: string) => `proofs/${task_id}`;
export const bundledRefusal = (refusal_id: string) => `refusals/${refusal_id}.json`;

/** The receipt or refusal of a row of the audit pack, by the link that it shows. Null if the row has neither. */
export function documentOfRow(
  verify_url: unknown,
): { readonly kind: 'receipt' | 'refusal'; readonly id: string } | null {
  const [, kind, id = ''] = /\/(receipt|refusal)\/([\w.-]+)$/.exec(String(verify_url)) ?? [];
  return kind === 'receipt' || kind === 'refusal' ? { kind, id } : null;
}
