import type { JsonObject } from '../../../schema/canonical-json.ts';
import { canonicalHash } from '../../../schema/digest.ts';
import { documents } from '../../../schema/documents.ts';
import type { ReceiptPolicyRef, Tolerance } from '../../../schema/receipt-payload.ts';

/** The settled amount equals the price to the last unit; clocks may differ by a minute. */
export const tolerance: Tolerance = { amount_atomic: '0', clock_seconds: 60 };

/** What each signed member means, for whoever has to judge a receipt. Published versions never change; a new one is added. */
const policies: readonly [JsonObject, ...JsonObject[]] = [
  {
    schema: documents.receipt_policy,
    version: 1,
    payload_version: 11,
    tolerance,
    members: {
      'tolerance.amount_atomic':
        'By how many atomic units payment.settled_amount may differ from payment.gross_amount.',
      'tolerance.clock_seconds':
        "By how many seconds a verifier's clock may differ from iat, issued_at and collected_at.",
      'payment.gross_amount':
        'The price in atomic USDC (6 decimals), as a decimal string; nothing is deducted on chain.',
      'payment.settled_amount': 'What the transfer to payment.pay_to carried, in the same units.',
      'payment.ref':
        'network:transaction hash of the transfer; payment.transfer_index tells transfers of one transaction apart.',
      'settled_by.observed_transfer': 'The issuer saw the transfer on chain before it signed.',
      'settled_by.receipt':
        'The issuer was told of the settlement and had not looked; poll /task-status for the outcome.',
      caller_binding: 'The wallet that authorised the payment, or the SHA-256 of the key that waived it.',
      claim_id: 'The book (agent_id) on which the row stands; left out where there is none.',
      fulfillment:
        'What was done; output_commitment.hash of a completion is the SHA-256 of the canonical JSON of its choices.',
      request_hash:
        'SHA-256 of the canonical {request_hash, salt}: request_hash is the SHA-256 of the canonical {field, args} that was paid for, the salt went to the payer in x-svc-request-salt.',
      tree_head_hash:
        'SHA-256 of the canonical {log_id, tree_size, root_hash} of the log prefix that ends with this receipt.',
    },
    does_not_prove: 'The signature alone does not prove that USDC moved: look up payment.ref on its network.',
  },
];

const published = policies.map((policy, index) => ({ version: index + 1, hash: canonicalHash(policy), policy }));

const current = published.at(-1);
if (current === undefined) throw new RangeError('no receipt policy is published');

export const receiptPolicyRef: ReceiptPolicyRef = { hash: current.hash, version: current.version };

/** The public append-only document; the signature covers the current version's number and hash. */
export function policyHistory(sign: (claims: JsonObject) => string): JsonObject {
  return {
    schema: documents.receipt_policy_history,
    version: receiptPolicyRef.version,
    hash: receiptPolicyRef.hash,
    policies: published,
    issuer_signature: { alg: 'ES256', jws: sign({ receipt_policy: receiptPolicyRef }) },
  };
}
