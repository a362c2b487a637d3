import { atomicAmount } from '../amount.ts';

const DAY_SECONDS = 24 * 3_600;

/** Limits of jobs on the board, units last in each name. Each job and each bid is paid for by a stamp. */
export const jobLimits = {
  text_chars_max: 1_000,
  acceptance_test_chars_max: 1_000,
  budget_atomic_max: atomicAmount(25_000_000n),
  deadline_seconds_max: 30 * DAY_SECONDS,
  /** After the deadline: a delivery of the last minute is still paid for. */
  pay_within_seconds: 7 * DAY_SECONDS,
  /** At least, from when the chain was found not to have its first payment. */
  pay_again_within_seconds: DAY_SECONDS,
  /** A bid and its one revision. */
  bids_per_agent_max: 2,
  /** Of one job; those who race for the last place are let in. */
  bidders_max: 200,
  pitch_chars_max: 280,
  eta_chars_max: 64,
  preview_chars_max: 1_000,
  /** Of a job: the winner may deliver once more after the first, and no more. */
  deliveries_refused_max: 2,
  /** Of a job: hashes in whose place the winner has delivered another. */
  deliveries_replaced_max: 8,
  reason_chars_max: 280,
  output_bytes_max: 1024 * 1024,
  /** As JSON: in base64 it is a third longer, and in a text line breaks and quotes take two bytes. */
  reveal_request_bytes_max: 2 * 1024 * 1024 + 16 * 1024,
  output_kept_seconds: 30 * DAY_SECONDS,
  outputs_forgotten_per_round_max: 200,
  payout_signature_seconds_max: 300,
  payout_signature_chars_max: 128,
  page_default: 20,
  page_max: 50,
  id_chars_max: 64,
  /** Of one job, oldest first: as many as there may be, but for those who raced. */
  bids_shown_max: 400,
  expired_per_round_max: 200,
} as const;
