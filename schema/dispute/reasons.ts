/* What a dispute is decided by, and to what. */

/** What may be claimed of a row. */
export const claimTypes = ['output_missing', 'wrong_model', 'double_charge'] as const;
export type ClaimType = (typeof claimTypes)[number];

/** What a verdict comes to. No money moves by any of them. */
export const disputeOutcomes = ['refund', 'partial', 'stand'] as const;
export type DisputeOutcome = (typeof disputeOutcomes)[number];

type ReasonRow = readonly [outcome: DisputeOutcome | null, sentence: string];

/** Each reason with what follows from it; null: the records do not decide it, so that the dispute stays open. */
export const disputeReasons = {
  nothing_charged: ['stand', 'Nothing was charged for this row.'],
  charged_elsewhere: ['stand', 'The row records a payment to somebody else: nothing was charged here.'],
  arrival_unverified: ['stand', 'No payment was seen to arrive, so nothing counts as charged.'],
  arrival_pending: [null, 'Whether the payment has arrived is not known yet. File it again once it is.'],
  settlement_in_doubt: [
    null,
    'A reorganisation took the settlement out of its block: look the payment up on its chain.',
  ],
  receipt_missing: [null, 'No receipt is known for the row.'],
  evidence_unknown: [null, 'This rule does not know what the row rests on.'],

  output_committed: ['stand', 'The receipt commits to an output that was in hand when it was signed.'],
  answered_on_resend: ['stand', 'The work was done once more, free, and its answer was kept.'],
  no_output_sold: ['stand', 'What was bought has no output.'],
  output_broke_off: [
    'partial',
    'The answer broke off: what had come of it was delivered, and nothing is committed to.',
  ],
  output_not_kept: ['refund', 'The process ended while it answered: nothing is committed to, and no answer was kept.'],
  no_output: ['refund', 'The payment moved, and no output was in hand.'],
  commitment_unknown: [null, 'This rule does not know why nothing is committed to.'],

  no_model_sold: ['stand', 'No model was sold by this row.'],
  model_as_requested: ['stand', 'The model that was requested is the one on the receipt.'],
  model_delegated: ['stand', 'The request left the choice of the model to the service.'],
  requested_model_not_named: [null, 'The evidence names no requested model.'],
  request_not_proven: [null, 'The evidence does not prove what was requested: give the request and its salts.'],
  another_model_answered: ['refund', 'The receipt names another model than the request that was paid for.'],

  other_charge_not_named: [null, 'The evidence names no other row as the other charge.'],
  same_row: ['stand', 'The evidence names the same row: it was charged once.'],
  other_not_on_book: [null, 'The other charge is no row of this book.'],
  other_not_charged: ['stand', 'Nothing was charged for the other row.'],
  no_common_intent: ['stand', 'The two calls name no common intent: each was bought for itself.'],
  attempts_differ: ['stand', 'The two calls are different attempts at one intent.'],
  first_charge: ['stand', 'Of the two charges this is the first.'],
  charged_twice: ['refund', 'One attempt at one intent, by one request, was charged before.'],
} as const satisfies Record<string, ReasonRow>;

export type DisputeReason = keyof typeof disputeReasons;

export function disputeOutcome(reason: DisputeReason): DisputeOutcome | null {
  return disputeReasons[reason][0];
}

/** What a verdict does, by what it comes to; signed with it. */
export const verdictMeans = {
  refund: 'By its own records the issuer owes this payment back. No money moves by this document.',
  partial: 'By its own records the issuer delivered a part of what was paid for. No money moves by this document.',
  stand: 'By its own records the issuer owes nothing back.',
  open: 'The records do not decide it. It is no verdict.',
} as const satisfies Record<DisputeOutcome | 'open', string>;

/** What no verdict shows, whatever it comes to; signed with it. */
export const VERDICT_DOES_NOT_PROVE =
  'The issuer judges itself, by its own book and receipts. It shows neither that an answer was good, nor that it reached whoever paid, nor that USDC moved.';
