import type { WordOf, Words } from '../words.ts';

/* Reasons and outcomes of disputes. */

export const claimTypes = {
  graph: 'DisputeClaimType',
  description: 'Claim about a row.',
  meanings: {
    output_missing: 'The call was paid for, and no output came.',
    wrong_model: 'Another model answered than the requested one.',
    double_charge: 'The same request had been charged before.',
  },
} as const satisfies Words;
export type ClaimType = WordOf<typeof claimTypes>;

export const disputeOutcomes = {
  graph: 'DisputeOutcome',
  description: 'Outcome of a dispute: what the issuer owes back.',
  meanings: {
    refund: 'The payment is owed back. No money moves by itself.',
    partial:
      'A part of what was paid for was delivered. The verdict names no amount that is owed back, and no money moves by itself.',
    stand: 'Nothing is owed back.',
  },
} as const satisfies Words;
export type DisputeOutcome = WordOf<typeof disputeOutcomes>;

/** `means` is set if the sentence of the outcome does not apply to this reason. */
type ReasonRow = readonly [outcome: DisputeOutcome | null, sentence: string, means?: string];

/**
 * Reasons of rules 1 and 2 with their outcome. Null: the records do not decide it, and the dispute stays open. Verdicts have signed
 * these sentences, so no letter of them may change.
 */
const reasonsOfFirst = {
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

const MAY_SUPERSEDE = 'A later verdict may supersede this one: see status_url. No money moves by this document.';

/** Reasons of rule 3. Signed as well. */
const reasonsOfThird = {
  ...reasonsOfFirst,
  already_refunded: [
    'stand',
    'This charge has been refunded by an earlier verdict. A charge is refunded once.',
    `By its own records the issuer owes back what that earlier verdict decided, and nothing beyond it. The fact disputed.refunded_by names its dispute. ${MAY_SUPERSEDE}`,
  ],
  answer_still_owed: [
    null,
    'The same payment, sent again, may still bring the answer. File the dispute again after decides_after.',
  ],
  commitment_by_others: [
    null,
    'The commitment was made by somebody other than the issuer, who has not seen the output and cannot say whether it came.',
  ],
  output_revealed: ['stand', 'The winner revealed the output of the job, and it has the hash that was delivered.'],
  output_not_revealed: [
    null,
    'The job is paid, and its winner has not revealed the output. Challenge the job, and file the dispute again.',
  ],
  reveal_awaited: [
    null,
    'The job is paid and challenged, and its winner may still reveal the output. File the dispute again after decides_after.',
  ],
  output_never_revealed: [
    'refund',
    'The job was challenged, and its winner did not reveal the output within seven days of the payment. The issuer owes back its fee.',
  ],
  no_model_on_receipt: [
    'stand',
    'The receipt names no model, so it does not show that another one answered. Whether an answer came is decided by a claim of output_missing.',
  ],
  no_common_intent: [
    'stand',
    'No charge that this verdict compares was made for the same intent and attempt, so this call is a separate purchase.',
  ],
  other_refunded: [
    'stand',
    'The other charge has been refunded, so this one is the only charge that stands.',
    `By its own records the issuer owes nothing back for this charge. It owes back what an earlier verdict decided of the other one: the fact other.refunded_by names its dispute. ${MAY_SUPERSEDE}`,
  ],
  output_of_its_own: ['stand', 'An output of its own was delivered for this charge.'],
  charged_twice: [
    'refund',
    'The same request was charged before, for the same intent and attempt, and this charge brought no output or the very same one.',
  ],
} as const satisfies Record<string, ReasonRow>;

/** Reasons of rule 4. Signed as well. */
const reasonsOfFourth = {
  ...reasonsOfThird,
  model_as_requested: ['stand', 'The model that was requested is the one that the hub was asked for.'],
  another_model_answered: ['refund', 'The hub was asked for another model than the one that the request names.'],
  answered_as_requested: [
    'stand',
    'The model that the hub named in its answer is the one that was asked for: by its id, with or without a provider or a version, or by a configured alias.',
  ],
  another_model_of_hub: [
    'refund',
    'In its answer the hub named another model of its catalogue than the one that it was asked for.',
  ],
  model_unclear: [
    null,
    'In its answer the hub named a model that is neither the one that was asked for, nor an alias or a version of it, nor another one of its catalogue.',
  ],
} as const satisfies Record<string, ReasonRow>;

/** Reasons of the current rule. Rules 1 to 3 have a part of them. */
export const disputeReasons = reasonsOfFourth;
export type DisputeReason = keyof typeof reasonsOfFourth;
export type FirstReason = keyof typeof reasonsOfFirst;

export function disputeOutcome(reason: DisputeReason): DisputeOutcome | null {
  return disputeReasons[reason][0];
}

type Meanings = Readonly<Record<DisputeOutcome | 'open', string>>;

const meansOfFirst: Meanings = {
  refund: 'By its own records the issuer owes this payment back. No money moves by this document.',
  partial: 'By its own records the issuer delivered a part of what was paid for. No money moves by this document.',
  stand: 'By its own records the issuer owes nothing back.',
  open: 'The records do not decide it. It is no verdict.',
};

const meansOfThird: Meanings = {
  refund:
    'By its own records the issuer owes back what owed_back names, and nothing else. This is final. No money moves by this document.',
  partial: `By its own records the issuer delivered a part of what was paid for. ${MAY_SUPERSEDE}`,
  stand: `By its own records the issuer owes nothing back. ${MAY_SUPERSEDE}`,
  open: 'The records do not decide the dispute yet. This document is not a verdict.',
};

const NOT_PROVEN =
  'The issuer judges itself, by its own book and receipts. It shows neither that an answer was good, nor that it reached whoever paid, nor that USDC moved.';

interface VerdictWords {
  readonly reasons: Readonly<Partial<Record<DisputeReason, ReasonRow>>>;
  /** Meaning of a verdict by outcome, for reasons without a sentence of their own. */
  readonly means: Meanings;
  /** What a verdict does not prove, whatever its outcome. */
  readonly does_not_prove: string;
}

/** Sentences that are signed with a verdict, by rule version. */
const words: Readonly<Record<number, VerdictWords>> = {
  1: { reasons: reasonsOfFirst, means: meansOfFirst, does_not_prove: NOT_PROVEN },
  2: { reasons: reasonsOfFirst, means: meansOfFirst, does_not_prove: NOT_PROVEN },
  3: { reasons: reasonsOfThird, means: meansOfThird, does_not_prove: NOT_PROVEN },
  4: { reasons: reasonsOfFourth, means: meansOfThird, does_not_prove: NOT_PROVEN },
};

/** Sentences of a rule for a reason and its outcome. Null if the rule does not have the reason. */
export function verdictWords(
  rule_version: number,
  reason: DisputeReason,
): { readonly reason_says: string; readonly means: string; readonly does_not_prove: string } | null {
  const { reasons, means, does_not_prove } = words[rule_version] ?? {};
  const row = reasons?.[reason];
  if (row === undefined || means === undefined || does_not_prove === undefined) return null;
  return { reason_says: row[1], means: row[2] ?? means[row[0] ?? 'open'], does_not_prove };
}
