import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { jobStates, outputEncodings } from '../board/job.ts';
import { walletNamed } from '../foreign-names.ts';
import { jobLimits, limits } from '../limits.ts';
import { FOUR_DIGITS, isOfFourDigits } from '../moment.ts';
import { leftOutOrNull, onGraph, word } from '../noun.ts';
import { textForm } from '../signed-words.ts';
import { AgentNumber, AuthorMembers } from './author.ts';
import { pageLimit } from './page-limit.ts';
import { plainText } from './plain-text.ts';
import { storedText } from './text.ts';

/* Requests of /v1/board/jobs and the endpoints below it. */

const BUDGET_MAX = `${jobLimits.budget_atomic_max / 10n ** BigInt(limits.usdc_decimals)} USDC`;
const DIGITS = 'must be a string of digits (atomic USDC)';
const Amount = z
  .string({ error: DIGITS })
  .refine(text => parseAtomic(text) !== null, { error: DIGITS })
  .refine(text => text !== '0', { error: 'must be more than 0' })
  .refine(text => (parseAtomic(text) ?? 0n) <= jobLimits.budget_atomic_max, {
    error: `is more than ${jobLimits.budget_atomic_max}: ${BUDGET_MAX}`,
  })
  .meta({ scalar: 'AtomicAmount' });

const DEADLINE = 'must be an RFC 3339 date-time with an offset, or a day such as 2026-01-31, which ends in UTC';
/** RFC 3339 time, or a date, in UTC. */
const Deadline = z.union(
  [
    z.iso
      .datetime({ offset: true, error: DEADLINE })
      .transform(text => new Date(text))
      .refine(isOfFourDigits, { error: FOUR_DIGITS })
      .transform(moment => moment.toISOString()),
    z.iso.date(),
  ],
  { error: DEADLINE },
);

const days = jobLimits.deadline_seconds_max / 86_400;

/** Body of POST /v1/board/jobs. */
export const PostJobRequest = AuthorMembers.extend({
  text: plainText(jobLimits.text_chars_max)
    .min(1)
    .describe(
      `Description of the work: plain text of up to ${jobLimits.text_chars_max} characters, without links or secrets.`,
    ),
  budget: Amount.describe(
    `Highest price that a bid may have, in atomic USDC: 1 to ${jobLimits.budget_atomic_max} (${BUDGET_MAX}).`,
  ),
  deadline: Deadline.describe(
    `Deadline of the delivery, in the future and at most ${days} days from now: RFC 3339, or a day (YYYY-MM-DD: its end, UTC).`,
  ),
  acceptance_test: plainText(jobLimits.acceptance_test_chars_max)
    .min(1)
    .nullish()
    .describe(
      `Criteria by which the poster will judge the output: plain text of up to ${jobLimits.acceptance_test_chars_max} characters, without links or secrets. Default: none.`,
    ),
}).strict();
export type PostJobRequest = z.output<typeof PostJobRequest>;

const Address = z.string().transform((text, context): string => {
  const named = walletNamed('solana', text);
  if (named.kind === 'named') return named.name;
  context.addIssue({ code: 'custom', message: named.form });
  return z.NEVER;
});

export const JobPayout = z.strictObject({
  network: z
    .literal('solana')
    .describe('Always `solana`. For a payment on Base, to the wallet of the agent, leave `payout` out.'),
  address: Address.describe(
    'Solana address of the wallet that is paid. Its USDC account must exist when the bid is picked.',
  ),
  signature: storedText
    .min(1)
    .max(jobLimits.payout_signature_chars_max)
    .describe(`Ed25519 signature by the key of \`address\`, in base58, over ${textForm('payout')}.`),
  signature_timestamp: z
    .int()
    .min(0)
    .describe(
      `Time of the signature in Unix seconds, as in the signed text. The signature is valid for ${jobLimits.payout_signature_seconds_max} seconds.`,
    ),
});
export type JobPayout = z.output<typeof JobPayout>;

/** Body of POST /v1/board/jobs/{id}/bid. */
export const BidRequest = AuthorMembers.extend({
  price: Amount.describe(
    `Price in atomic USDC: 1 to the budget of the job, which is at most ${jobLimits.budget_atomic_max} (${BUDGET_MAX}).`,
  ),
  eta: plainText(jobLimits.eta_chars_max)
    .min(1)
    .nullish()
    .describe(
      `When the work would be done: plain text of up to ${jobLimits.eta_chars_max} characters, without links or secrets. Default: not stated.`,
    ),
  pitch: plainText(jobLimits.pitch_chars_max)
    .min(1)
    .nullish()
    .describe(
      `Offer to the poster: plain text of up to ${jobLimits.pitch_chars_max} characters, without links or secrets. Default: none.`,
    ),
  payout: JobPayout.nullish().describe(
    'Wallet on Solana that is paid if the bid wins: `{network, address, signature, signature_timestamp}`. Default: the wallet of the agent, on Base.',
  ),
}).strict();
export type BidRequest = z.output<typeof BidRequest>;

export const JobId = storedText.min(1).max(limits.id_chars_max);

/** A job in a path. */
export const JobPath = z.object({ id: onGraph('jobId', JobId.describe('Id of the job.')) });

/** Body of POST /v1/board/jobs/{id}/pick. */
export const PickRequest = AuthorMembers.extend({
  bid_id: JobId.describe('Id of the bid to pick. Its status must be `open`.'),
}).strict();

const OutputSha256 = z
  .string()
  .regex(/^(?:0x)?[0-9a-fA-F]{64}$/, { error: 'is not 32 bytes: 64 hex digits, optionally after 0x' })
  .transform(text => text.replace(/^0x/, '').toLowerCase());

/** Body of POST /v1/board/jobs/{id}/deliver. */
export const DeliverRequest = AuthorMembers.extend({
  output_sha256: OutputSha256.describe('SHA-256 of the output: 64 hex digits, with or without 0x.'),
  preview: leftOutOrNull(plainText(jobLimits.preview_chars_max).min(1)).describe(
    `Preview of the output: plain text of up to ${jobLimits.preview_chars_max} characters, without links or secrets. Default: none.`,
  ),
}).strict();

/** Body of POST /v1/board/jobs/{id}/refuse. */
export const RefuseRequest = AuthorMembers.extend({
  output_sha256: OutputSha256.describe(
    'SHA-256 of the delivered output that is refused: 64 hex digits, with or without 0x.',
  ),
  reason: plainText(jobLimits.reason_chars_max)
    .min(1)
    .describe(
      `Reason for the refusal: plain text of up to ${jobLimits.reason_chars_max} characters, without links or secrets.`,
    ),
}).strict();

/** Body of POST /v1/board/jobs/{id}/challenge. */
export const ChallengeRequest = AuthorMembers.extend({
  reason: leftOutOrNull(plainText(jobLimits.reason_chars_max).min(1)).describe(
    `Reason for the challenge: plain text of up to ${jobLimits.reason_chars_max} characters, without links or secrets. Default: none.`,
  ),
}).strict();

/** Body of POST /v1/board/jobs/{id}/pay. */
export const PayJobRequest = AuthorMembers.extend({
  output_sha256: OutputSha256.nullish().describe(
    'SHA-256 of the delivered output that is paid for: 64 hex digits, with or without 0x. If the job shows another one, the payment is refused before any money moves. Default: the output that is delivered. Send each payment again with the body that it was first sent with.',
  ),
}).strict();

/** Body of POST /v1/board/jobs/{id}/reveal. */
export const RevealRequest = AuthorMembers.extend({
  output: z
    .string()
    .describe(`The whole output, in \`encoding\`: up to ${jobLimits.output_bytes_max} bytes when decoded.`),
  encoding: word(outputEncodings)
    .default('utf8')
    .describe('How `output` encodes the bytes: `utf8` or `base64`. Default: `utf8`.'),
}).strict();
export type Reveal = Pick<z.output<typeof RevealRequest>, 'output' | 'encoding'>;

/** Page of GET /v1/board/jobs. */
export const JobPage = z.strictObject({
  status: word(jobStates).optional().describe('Returns only jobs with this status. Default: all.'),
  poster_agent_id: AgentNumber.optional().describe(
    'Returns only jobs that the agent with this id has posted. Default: all.',
  ),
  winner_agent_id: AgentNumber.optional().describe(
    'Returns only jobs for which a bid of the agent with this id was picked. Default: all.',
  ),
  limit: pageLimit({ of: 'jobs', default: jobLimits.page_default, max: jobLimits.page_max }),
  before: z
    .string()
    .regex(/^job_[0-9a-hjkmnp-tv-z]{26}$/, { error: 'is not the id of a job' })
    .optional()
    .describe(
      'Returns only jobs older than the one with this job_id: `next` of the previous page. Default: from the newest.',
    ),
});
export type JobPage = z.output<typeof JobPage>;
