import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';

/**
 * Facts of a receipt that are also sent in headers, for callers that never read the body. The signed receipt itself is not sent there,
 * because a proxy that buffers one page of headers (nginx, 4 kB) would turn a paid answer into a 502.
 */
const headers = {
  'x-svc-task-id': 'task_id',
  'x-svc-verify-url': 'verify_url',
  'x-svc-payment-ref': 'payment_ref',
  'x-svc-proof-outcome': 'proof_outcome',
  'x-svc-amount': 'amount',
  'x-svc-payload-hash': 'payload_hash',
  'x-svc-vendor-blind': 'vendor_blind',
} as const;

/** Members with names that others have chosen, which may have any length. */
const named = { 'x-svc-model': 'model', 'x-svc-hub': 'hub', 'x-svc-answered-model': 'answered_model' } as const;

/**
 * Headers with the facts of a receipt. Hubs choose the names of models, so characters that a header cannot carry are percent-encoded, and a
 * name that is too long is left out.
 * @param document the public receipt, or what is known of it before it exists
 */
export function receiptHeaders(document: JsonObject): Record<string, string> {
  const carried: Record<string, string> = {};
  for (const [name, member] of Object.entries(headers)) {
    const value = document[member];
    if (typeof value === 'string') carried[name] = value;
    if (value === true) carried[name] = 'true';
  }
  for (const [name, member] of Object.entries(named)) {
    const value = headerSafe(document[member]);
    if (value !== null && value.length <= limits.named_header_bytes_max) carried[name] = value;
  }
  return carried;
}

/** RFC 9110 §5.5: visible ASCII and inner spaces. */
function headerSafe(value: Json | undefined): string | null {
  if (typeof value !== 'string') return null;
  return /^[!-~]([ -~]*[!-~])?$/.test(value) ? value : encodeURIComponent(value);
}
