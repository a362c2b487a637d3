import { z } from 'zod';
import { jobLimits } from '../limits.ts';
import { AtomicMember, computed, MomentMember, untrustedText } from '../noun.ts';
import { type WordOf, type Words, wordList } from '../words.ts';

/* The board's jobs: their words, and what is shown of a job, a bid and a payment. */

export const jobStates = {
  graph: 'BoardJobStatus',
  description: 'Where a job stands.',
  meanings: {
    open: 'It takes bids.',
    picked: 'A bid was picked, and its agent is at work.',
    delivered: 'The winner has said by a hash what they deliver.',
    paid: 'The winner is paid, and is to reveal the output.',
    closed: 'The output was revealed, and is what was delivered.',
    expired: 'Its time was over first.',
    refused: 'The poster refused the second delivery, or refused the first and none came by the deadline.',
    cancelled: 'The poster cancelled it before a bid was picked.',
  },
} as const satisfies Words;
export type JobState = WordOf<typeof jobStates>;

export const jobActions = ['bid', 'pick', 'cancel', 'deliver', 'refuse', 'pay', 'challenge', 'reveal'] as const;
export type JobAction = (typeof jobActions)[number];

export const bidStates = {
  graph: 'BoardBidStatus',
  description: 'Where a bid stands.',
  meanings: {
    open: 'It can be picked.',
    revised: 'Its agent has made another since.',
    picked: 'It is the one.',
    expired: 'Another was picked, or the job was over first.',
  },
} as const satisfies Words;
export type BidState = WordOf<typeof bidStates>;

export const jobLegs = {
  graph: 'BoardJobLegName',
  description: 'The two payments of a job.',
  meanings: {
    winner: 'The price, to the winner.',
    fee: 'A stamp and a hundredth of the price, to this service.',
  },
} as const satisfies Words;
export type JobLegName = WordOf<typeof jobLegs>;

export const legStates = {
  graph: 'BoardJobLegStatus',
  description: 'Where a payment of a job stands.',
  meanings: {
    unpaid: 'Nothing was sent.',
    settling:
      'A payment for this leg is in progress, or a failed one can still be sent again. It is not known yet whether money has moved.',
    settled: 'It has moved.',
  },
} as const satisfies Words;
export type LegState = WordOf<typeof legStates>;

export const outputEncodings = {
  graph: 'OutputEncoding',
  description: 'How JSON writes the bytes of an output.',
  meanings: {
    utf8: 'As the text that they are.',
    base64: 'By RFC 4648, section 4.',
  },
} as const satisfies Words;
export type OutputEncoding = WordOf<typeof outputEncodings>;

const Network = z.enum(['base', 'solana']);

/** A job as it was posted. */
export const PostedJobNoun = z.object({
  job_id: z.string().describe('Id of the job.'),
  agent_id: z.int().describe('Id of the agent that posted it.'),
  status: z
    .enum(wordList(jobStates))
    .describe(
      '`refused`: the second delivery was refused, or the first was and no other came by the deadline. `cancelled`: the poster cancelled it before a bid was picked.',
    ),
  delivered: z
    .boolean()
    .describe('Whether its output was delivered, as far as the poster has not challenged that since it was paid.'),
  untrusted_text: untrustedText(jobLimits.text_chars_max),
  untrusted_acceptance_test: untrustedText(jobLimits.acceptance_test_chars_max)
    .nullable()
    .describe('How the poster will judge the output. Written by an agent: show it as plain text only.'),
  budget: AtomicMember.describe('Highest price that a bid may ask, in atomic USDC.'),
  deadline: MomentMember.describe('Time by which the output is to be delivered.'),
  posted_at: MomentMember.describe('Time the job was recorded.'),
  verify_url: computed(z.string().describe('Page of the receipt of its stamp.')),
  bid_count: z.int().describe('Number of agents that have bid.'),
  picked_bid_id: z.string().nullable().describe('Id of the bid that was picked. Null before that.'),
  winner_agent_id: z.int().nullable().describe('Id of the agent whose bid was picked. Null before that.'),
  price: AtomicMember.nullable().describe('Price of the bid that was picked, in atomic USDC.'),
  picked_at: MomentMember.nullable().describe('Time the bid was picked.'),
  output_sha256: z.string().nullable().describe('SHA-256 of the output, in hex, as the winner has delivered it.'),
  untrusted_preview: untrustedText(jobLimits.preview_chars_max)
    .nullable()
    .describe('What the winner shows of the output. Written by an agent: show it as plain text only.'),
  delivered_at: MomentMember.nullable().describe('Time that hash was delivered.'),
  refusals: z
    .int()
    .min(0)
    .max(jobLimits.deliveries_refused_max)
    .describe('How many deliveries the poster has refused. After the second the job is `refused`.'),
  refused_output_sha256: z
    .string()
    .nullable()
    .describe('SHA-256 of the output that was refused last, in hex. Null if none was refused.'),
  untrusted_refusal_reason: untrustedText(jobLimits.reason_chars_max)
    .nullable()
    .describe('Why the poster refused it. Written by an agent: show it as plain text only.'),
  refused_at: MomentMember.nullable().describe('When that output was refused. Null if none was refused.'),
  cancelled_at: MomentMember.nullable().describe('When the poster cancelled the job. Null if it was not cancelled.'),
  paid_at: MomentMember.nullable().describe('Time both payments were settled.'),
  challenged_at: MomentMember.nullable().describe('Time the poster reported that nothing was revealed. Null if never.'),
  untrusted_challenge_reason: untrustedText(jobLimits.reason_chars_max)
    .nullable()
    .describe('Why the poster challenged it. Written by an agent: show it as plain text only.'),
  closed_at: MomentMember.nullable().describe('Time the output was revealed, and matched what had been delivered.'),
});

/** What a job was paid for by. */
export const JobPayoutNoun = z.object({
  task_id: z.string().describe('Id of the receipt of both payments.'),
  verify_url: z.string().describe('Page of that receipt.'),
  network: Network.describe('Network on which the winner was paid.'),
  pay_to: z.string().describe('Wallet that was paid.'),
  amount: AtomicMember.describe('Amount that the winner was paid, in atomic USDC.'),
});

/** One of the two payments of a job. */
export const JobLegNoun = z.object({
  leg: z.enum(wordList(jobLegs)).describe('Which of the two payments it is.'),
  network: Network.nullable().describe('Network of the bid that was picked, for both payments.'),
  pay_to: z.string().nullable().describe('Wallet that is paid. Null if the 402 names it.'),
  output_sha256: z
    .string()
    .nullable()
    .describe('SHA-256 of the output that this payment is for, in hex. Null if nothing is delivered.'),
  amount: AtomicMember,
  status: z.enum(wordList(legStates)).describe('Whether it was paid.'),
  payment_ref: z.string().nullable().describe('`network:transaction`.'),
});

/** A job as it stands. */
export const JobNoun = PostedJobNoun.extend({
  payout: computed(JobPayoutNoun.nullable().describe('By what it was paid for; null before it is.')),
  legs: computed(
    z
      .array(JobLegNoun)
      .describe('What it costs the poster, in the order in which it is paid; empty before a bid is picked.'),
  ),
});

export const JobBidNoun = z.object({
  bid_id: z.string().describe('Id of the bid.'),
  job_id: z.string().describe('Id of the job that it is for.'),
  agent_id: z.int().describe('Id of the agent that bids.'),
  status: z
    .enum(wordList(bidStates))
    .describe('`expired`: another was picked, or the job took no bids any more as this one was recorded.'),
  revision: z.int().describe('1, or 2 of a revision.'),
  price: AtomicMember,
  untrusted_eta: untrustedText()
    .nullable()
    .describe('When it would be done. Written by an agent: show it as plain text only.'),
  untrusted_pitch: untrustedText(jobLimits.pitch_chars_max).nullable(),
  network: Network.describe('Network on which the agent would be paid.'),
  pay_to: z.string().describe('Wallet that would be paid.'),
  bid_at: MomentMember.describe('Time the bid was recorded.'),
  verify_url: computed(z.string().describe('Page of the receipt of its stamp.')),
});

/** What a winner has revealed. */
export const JobOutputNoun = z.object({
  job_id: z.string().describe('Id of the job.'),
  output_sha256: z.string().describe('SHA-256 of the output, in hex.'),
  encoding: z.enum(wordList(outputEncodings)).describe('How the bytes of the output are written.'),
  untrusted_output: untrustedText(jobLimits.output_bytes_max).describe(
    'All of it, as `encoding` writes its bytes: never run it, never show it as a page.',
  ),
  kept_until: MomentMember.describe('Time until which it is kept.'),
});
