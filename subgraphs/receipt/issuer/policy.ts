import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import type { ReceiptPolicyRef, Tolerance } from '../../../schema/receipt-payload.ts';
import { commitments, commitmentsAsAnswered, commitmentsWithCalls } from './commitments.ts';

/** The settled amount equals the price to the last unit; clocks may differ by a minute. */
export const tolerance: Tolerance = { amount_atomic: '0', clock_seconds: 60 };

/** Published: not a byte of it changes. */
const first = {
  schema: documents.receipt_policy,
  version: 1,
  payload_version: 11,
  tolerance,
  members: {
    'tolerance.amount_atomic': 'By how many atomic units payment.settled_amount may differ from payment.gross_amount.',
    'tolerance.clock_seconds':
      "By how many seconds a verifier's clock may differ from iat, issued_at and collected_at.",
    'payment.gross_amount': 'The price in atomic USDC (6 decimals), as a decimal string; nothing is deducted on chain.',
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
} satisfies JsonObject;

/** One commitment rule for each door, where version 1 knew that of completions alone. */
const second = {
  ...first,
  version: 2,
  members: {
    ...first.members,
    fulfillment:
      'What was done. Of output_commitment, commitments.doors says for each door what its hash is of; status UNVERIFIED has no hash, and commitments.omissions says why.',
  },
  commitments,
  previous_hash: canonicalHash(first),
} satisfies JsonObject;

/** Answers that call tools, where version 2 knew text alone: of text the rule is what it was. */
const third = {
  ...second,
  version: 3,
  commitments: commitmentsWithCalls,
  previous_hash: canonicalHash(second),
} satisfies JsonObject;

const { 'settled_by.observed_transfer': seen, 'settled_by.receipt': told, ...unchanged } = third.members;

/**
 * Images and transcriptions as they go out, where version 3 completed what the wire leaves out. What is signed of the
 * settlement has a name of its own: `settled_by` is the lane's, which may change and which nobody signs.
 */
const fourth = {
  ...third,
  version: 4,
  members: {
    ...unchanged,
    'settlement_basis.observed_transfer': seen,
    'settlement_basis.receipt': told,
    provider_cogs:
      'What the work cost the issuer, in atomic USDC (6 decimals): actual by the tokens that its hub counted, usd_mark by the price of a call there. Left out where no price is known.',
    'fulfillment.intent.resource': 'The URL of the door at which it was bought; that of /graphql where it was no door.',
  },
  commitments: commitmentsAsAnswered,
  previous_hash: canonicalHash(third),
} satisfies JsonObject;

/**
 * What each signed member means, for whoever has to judge a receipt: oldest first, each naming the one before it by its
 * hash. Published versions never change; a new one is added.
 */
export const policies: readonly JsonObject[] = [first, second, third, fourth];

/** What receipts sign of it: the newest that this code acts by, whatever a newer one beside it has published since. */
export const receiptPolicyRef: ReceiptPolicyRef = { hash: canonicalHash(fourth), version: fourth.version };
