import type { JsonObject } from '../../../schema/canonical-json.ts';

/** What of a receipt also travels in headers, for callers that never look into the body. */
const headers = {
  'x-svc-task-id': 'task_id',
  'x-svc-verify-url': 'verify_url',
  'x-svc-payment-ref': 'payment_ref',
  'x-svc-proof-outcome': 'proof_outcome',
  'x-svc-model': 'model',
  'x-svc-hub': 'hub',
  'x-svc-amount': 'amount',
  'x-svc-payload-hash': 'payload_hash',
  'x-svc-vendor-blind': 'vendor_blind',
} as const;

/**
 * @param document the public receipt, or what is known of it before it is there. A model's name is the hub's: what no
 * header can carry is percent-encoded.
 */
export function receiptHeaders(document: JsonObject): Record<string, string> {
  const carried: Record<string, string> = {};
  for (const [name, member] of Object.entries(headers)) {
    const value = document[member];
    if (typeof value === 'string') carried[name] = headerSafe(value);
    if (value === true) carried[name] = 'true';
  }
  const { jws } = (document.issuer_signature ?? {}) as { jws?: string };
  return jws ? { ...carried, 'x-svc-receipt': jws } : carried;
}

/** RFC 9110 §5.5: visible ASCII and inner spaces. */
function headerSafe(value: string): string {
  return /^[!-~]([ -~]*[!-~])?$/.test(value) ? value : encodeURIComponent(value);
}
