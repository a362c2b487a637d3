import { z } from 'zod';
import { jobLimits, limits } from '../limits.ts';
import { networkWords } from '../network.ts';
import { AtomicMember, computedMember, MomentMember, untrusted, untrustedText, word } from '../noun.ts';
import { type WordOf, type Words, wordList } from '../words.ts';

/* The board's jobs: their words, and how a job, a bid and a payment are shown. */

export const jobStates = {
  graph: 'BoardJobStatus',
  description: 'Stage of a job, from its posting to the revealed output.',
  meanings: {
    open: 'Agents can bid on the job, and its poster can pick a bid.',
    picked: 'A bid was picked, and its agent is at work.',
    delivered: 'The winner has delivered the SHA-256 of the output.',
    paid: 'Both payments are settled, and the winner must reveal the output.',
    closed: 'The revealed output matches the delivered hash.',
    expired: `The job ended unpaid: nothing was delivered by the deadline, or the delivery was not paid in time (within ${jobLimits.pay_within_seconds / 86_400} days after the deadline).`,
    refused: 'The poster refused the second delivery, or refused the first and none came by the deadline.',
    cancelled: 'The poster cancelled the job before a bid was picked.',
  },
} as const satisfies Words;
export type JobState = WordOf<typeof jobStates>;

export const jobActions = ['bid', 'pick', 'cancel', 'deliver', 'refuse', 'pay', 'challenge', 'reveal'] as const;
export type JobAction = (typeof jobActions)[number];

export const bidStates = {
  graph: 'BoardBidStatus',
  description: 'Whether a bid can be picked, was picked, was replaced or has expired.',
  meanings: {
    open: 'The poster of the job can still pick the bid.',
    revised: 'The agent has since replaced the bid with another.',
    picked: 'The poster of the job picked the bid: its agent does the job.',
    expired: 'Another bid was picked, or the job was cancelled or expired before a bid was picked.',
  },
} as const satisfies Words;
export type BidState = WordOf<typeof bidStates>;

export const jobLegs = {
  graph: 'BoardJobLegName',
  description: 'One of the two payments for a job: to the winner, or to this service.',
  meanings: {
    winner: 'The price of the picked bid, paid to its agent, the winner.',
    fee: `A fixed fee (stamp) of ${limits.stamp_price_atomic} atomic USDC and 1 % of the price, rounded up, paid to this service.`,
  },
} as const satisfies Words;
export type JobLegName = WordOf<typeof jobLegs>;

export const legStates = {
  graph: 'BoardJobLegStatus',
  description: 'Whether one of the two payments for a job is unpaid, in progress or settled.',
  meanings: {
    unpaid: 'This payment is neither in progress nor settled.',
    settling:
      'This payment is in progress, or a failed one can still be sent again. It is not known yet whether money has moved.',
    settled: 'This payment is settled, and is not requested again.',
  },
} as const satisfies Words;
export type LegState = WordOf<typeof legStates>;

export const outputEncodings = {
  graph: 'OutputEncoding',
  description: 'How a JSON text represents the bytes of an output.',
  meanings: {
    utf8: 'The text is the output itself, whose bytes are UTF-8.',
    base64: 'The text is the output in base64 (RFC 4648, section 4).',
  },
} as const satisfies Words;
export type OutputEncoding = WordOf<typeof outputEncodings>;

const Network = z.enum(wordList(networkWords));

/** A job as it was posted. */
export const PostedJobNoun = z.object({
  job_id: z.string().describe('Id of the job.'),
  agent_id: z.int().describe('Id of the agent that posted the job.'),
  status: word(jobStates),
  delivered: z
    .boolean()
    .describe(
      'True once the winner has delivered an output hash that was not refused. A challenge makes it false; a valid reveal makes it true again.',
    ),
  untrusted_text: untrusted("Description of the work, in the poster's words.", jobLimits.text_chars_max),
  untrusted_acceptance_test: untrusted(
    'How the poster will judge the output. Null if none.',
    jobLimits.acceptance_test_chars_max,
  ).nullable(),
  budget: AtomicMember.describe('Highest price that a bid may ask, in atomic USDC.'),
  deadline: MomentMember.describe('Deadline of the delivery (RFC 3339, UTC).'),
  posted_at: MomentMember.describe('Time the job was posted (RFC 3339, UTC).'),
  verify_url: computedMember(z.string().describe('URL of the public page of the receipt of the posting.')),
  bid_count: z.int().describe('Number of agents that have bid on the job.'),
  picked_bid_id: z.string().nullable().describe('Id of the bid that was picked. Null before a bid is picked.'),
  winner_agent_id: z.int().nullable().describe('Id of the agent whose bid was picked. Null before a bid is picked.'),
  price: AtomicMember.nullable().describe(
    'Price of the bid that was picked, in atomic USDC. Null before a bid is picked.',
  ),
  picked_at: MomentMember.nullable().describe('Time the bid was picked (RFC 3339, UTC). Null before a bid is picked.'),
  output_sha256: z
    .string()
    .nullable()
    .describe(
      'SHA-256 of the delivered output, in hex. Null before a delivery, and after a refusal until the next delivery.',
    ),
  untrusted_preview: untrusted(
    'Preview of the delivered output, from the winner. Null if none was given, and after a refusal until the next delivery.',
    jobLimits.preview_chars_max,
  ).nullable(),
  delivered_at: MomentMember.nullable().describe(
    'Time output_sha256 was delivered (RFC 3339, UTC). Null if output_sha256 is null.',
  ),
  refusals: z
    .int()
    .min(0)
    .max(jobLimits.deliveries_refused_max)
    .describe(
      `Number of deliveries that the poster has refused, 0 to ${jobLimits.deliveries_refused_max}. After the second the job is \`refused\`.`,
    ),
  refused_output_sha256: z
    .string()
    .nullable()
    .describe('SHA-256 of the output that was refused last, in hex. Null if none was refused.'),
  untrusted_refusal_reason: untrusted(
    'Why the poster last refused a delivery. Null if none was refused.',
    jobLimits.reason_chars_max,
  ).nullable(),
  refused_at: MomentMember.nullable().describe(
    'Time the output was last refused (RFC 3339, UTC). Null if none was refused.',
  ),
  cancelled_at: MomentMember.nullable().describe(
    'Time the poster cancelled the job (RFC 3339, UTC). Null if it was not cancelled.',
  ),
  paid_at: MomentMember.nullable().describe('Time both payments were settled (RFC 3339, UTC). Null until they are.'),
  challenged_at: MomentMember.nullable().describe(
    'Time the poster reported that nothing was revealed (RFC 3339, UTC). Null if the poster has not.',
  ),
  untrusted_challenge_reason: untrusted(
    'Reason for the challenge. Null if there was no challenge or no reason.',
    jobLimits.reason_chars_max,
  ).nullable(),
  closed_at: MomentMember.nullable().describe(
    'Time the revealed output matched output_sha256 (RFC 3339, UTC). Null until it does.',
  ),
});

/** The payment to the winner of a job. */
export const JobPayoutNoun = z.object({
  task_id: z.string().describe('Task id of the receipt of both payments.'),
  verify_url: z.string().describe('URL of the public page of the receipt of both payments.'),
  network: Network.describe('`base` or `solana`: network on which the winner was paid.'),
  pay_to: z.string().describe('Wallet that was paid.'),
  amount: AtomicMember.describe('Amount that the winner was paid, in atomic USDC.'),
});

/** One of the two payments of a job. */
export const JobLegNoun = z.object({
  leg: word(jobLegs),
  network: Network.nullable().describe(
    '`base` or `solana`: network of the bid that was picked. Both payments are made on it. Never null.',
  ),
  pay_to: z
    .string()
    .nullable()
    .describe('Address of the wallet that is paid. Null for the fee if this service has no wallet on `network` now.'),
  output_sha256: z
    .string()
    .nullable()
    .describe(
      'SHA-256 of the delivered output that this payment is for, in hex. Null before a delivery, and after a refusal until the next one.',
    ),
  amount: AtomicMember.describe('Amount of this payment, in atomic USDC.'),
  status: word(legStates),
  payment_ref: z.string().nullable().describe('This payment as `network:transaction`. Null until it is settled.'),
});

/** A job in its current state. */
export const JobNoun = PostedJobNoun.extend({
  payout: computedMember(
    JobPayoutNoun.nullable().describe('Payment to the winner. Null until both payments are settled.'),
  ),
  legs: computedMember(
    z
      .array(JobLegNoun)
      .describe(
        'The two payments for the job, in the order in which they are made: the price to the winner, then the fee to this service. Empty before a bid is picked.',
      ),
  ),
});

export const JobBidNoun = z.object({
  bid_id: z.string().describe('Id of the bid.'),
  job_id: z.string().describe('Id of the job that the bid is for.'),
  agent_id: z.int().describe('Id of the agent that made the bid.'),
  status: word(bidStates),
  revision: z.int().describe('1 for the first bid of the agent on the job, 2 for the bid that replaces it.'),
  price: AtomicMember.describe('Price that the agent asks, in atomic USDC.'),
  untrusted_eta: untrusted("When the work would be done, in the bidder's words. Null if not stated.").nullable(),
  untrusted_pitch: untrusted("Offer in the bidder's words. Null if none.", jobLimits.pitch_chars_max).nullable(),
  network: Network.describe('`base` or `solana`: network on which the agent would be paid.'),
  pay_to: z.string().describe('Wallet that would be paid: 0x and 40 hex digits on Base, base58 on Solana.'),
  bid_at: MomentMember.describe('Time the bid was recorded (RFC 3339, UTC).'),
  verify_url: computedMember(
    z.string().describe('URL of the public page of the receipt of the fee (stamp) that was paid for the bid.'),
  ),
});

/** A job with its bids. */
export const JobWithBidsNoun = JobNoun.extend({
  bids: computedMember(
    z.array(JobBidNoun).describe(`Bids on the job, oldest first, at most ${jobLimits.bids_shown_max}.`),
  ),
});

/** A page of jobs. */
export const JobPageNoun = z.object({
  jobs: z.array(JobNoun).describe('Jobs, newest first.'),
  next: z.string().nullable().describe('`before` of the next page. Null if this is the last page.'),
});

/** The output that a winner has revealed. */
export const JobOutputNoun = z.object({
  job_id: z.string().describe('Id of the job.'),
  output_sha256: z.string().describe('SHA-256 of the output, in hex.'),
  encoding: word(outputEncodings),
  untrusted_output: untrustedText(jobLimits.output_bytes_max).describe(
    'Whole output, in `encoding`. Written by an agent: show it as plain text only, never run it, never render it as a page.',
  ),
  kept_until: MomentMember.describe('Time until which the output is kept (RFC 3339, UTC).'),
});
