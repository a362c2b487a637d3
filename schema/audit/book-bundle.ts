/*
 * What is in the bundle of a book (`?format=bundle`): an export, and all that a stranger needs to check it offline. The service packs
 * it and the verifier unpacks it by these names.
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
/** That the receipt stands in the log under that checkpoint (C2SP tlog-proof). */
export const bundledProof = (task_id: string) => `proofs/${task_id}`;
export const bundledRefusal = (refusal_id: string) => `refusals/${refusal_id}.json`;

/** The receipt or the refusal that a row of the audit pack rests on, by the link that it shows; null where it rests on neither. */
export function documentOfRow(
  verify_url: unknown,
): { readonly kind: 'receipt' | 'refusal'; readonly id: string } | null {
  const [, kind, id = ''] = /\/(receipt|refusal)\/([\w.-]+)$/.exec(String(verify_url)) ?? [];
  return kind === 'receipt' || kind === 'refusal' ? { kind, id } : null;
}
