import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { claimTypes } from '../dispute/reasons.ts';
import { COMMITMENT_FORM, commitmentText, parseCommitment, proofTiers } from '../escrow.ts';
import { escrowLimits } from '../limits.ts';
import { wordList } from '../words.ts';
import { Moment } from './book.ts';
import { freeObject } from './free-object.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* What is asked of /v1/agents/{agent_id}/book/escrow and …/book/a2a-escrow: one request for each action. */

const EscrowName = storedText.min(1).max(escrowLimits.id_chars_max);
const TaskName = storedText.min(1).max(escrowLimits.task_chars_max);

const DIGITS = 'is a string of digits (atomic USDC)';
const Amount = z
  .string({ error: DIGITS })
  .refine(text => parseAtomic(text) !== null, { error: DIGITS })
  .refine(text => text !== '0', { error: 'is nothing' });

/** In one spelling, so that the same said twice is the same request. */
const CommitmentMember = z.string({ error: COMMITMENT_FORM }).transform((text, context): string => {
  const commitment = parseCommitment(text);
  if (commitment !== null) return commitmentText(commitment);
  context.addIssue({ code: 'custom', message: COMMITMENT_FORM });
  return z.NEVER;
});

const days = escrowLimits.lasts_seconds_max / 86_400;
const usual_days = escrowLimits.lasts_seconds_default / 86_400;
const ExpiresAt = Moment.describe(`Within ${days} days; ${usual_days} days from now where it is left out.`);

const ClaimType = z.enum(wordList(claimTypes));
const Evidence = freeObject({
  bytes: escrowLimits.evidence_bytes_max,
  depth: escrowLimits.evidence_depth_max,
  members: escrowLimits.evidence_members_max,
})
  .meta({ type: 'object', additionalProperties: true })
  .describe('Any object, up to 4 KiB. It is recorded, and judged by nobody.');
const claim = {
  claim_type: ClaimType.optional().describe('Why; wanted to claw back before the escrow ends.'),
  evidence: Evidence.optional(),
};

/** By its id, or by its task: then the newest escrow of that. */
const named = z.strictObject({ escrow_id: EscrowName.optional(), task_id: TaskName.optional() });
const isNamed = ({ escrow_id, task_id }: z.output<typeof named>) => escrow_id !== undefined || task_id !== undefined;
const unnamed = { path: ['escrow_id'], error: 'escrow_id or task_id is required' };

export const LedgerOpen = z.strictObject({
  task_id: TaskName.describe('A call of this book whose payment was collected.'),
  amount: Amount.optional().describe('Atomic USDC; where it is given it has to be what was collected.'),
  expires_at: ExpiresAt.optional(),
  required: z
    .strictObject({
      output_hash: CommitmentMember.optional().describe(
        'What the receipt has to commit to: `sha256:<hex>` or `keccak256:<hex>`.',
      ),
      proof_tier: z
        .enum(wordList(proofTiers))
        .optional()
        .describe('`inference` wants all that `settlement` does, and more.'),
    })
    .optional()
    .describe('What is checked on release.'),
});
export type LedgerOpen = z.output<typeof LedgerOpen>;

export const LedgerName = named.refine(isNamed, unnamed);
export type LedgerName = z.output<typeof LedgerName>;
export const LedgerClawback = named.extend(claim).refine(isNamed, unnamed);

/** Body of POST /v1/agents/{agent_id}/book/escrow; possession in it was looked at before. */
export const LedgerEscrowRequest = z.discriminatedUnion('action', [
  PossessionMembers.extend({ action: z.literal('open'), ...LedgerOpen.shape }).strict(),
  PossessionMembers.extend({ action: z.literal('release'), ...named.shape })
    .strict()
    .refine(isNamed, unnamed),
  PossessionMembers.extend({ action: z.literal('clawback'), ...named.shape, ...claim })
    .strict()
    .refine(isNamed, unnamed),
  PossessionMembers.extend({ action: z.literal('status'), ...named.shape })
    .strict()
    .refine(isNamed, unnamed),
]);
export type LedgerEscrowRequest = z.output<typeof LedgerEscrowRequest>;

const JobName = z
  .string()
  .regex(/^[\w.:-]+$/, { error: 'is made of letters, digits and . _ : -' })
  .max(escrowLimits.job_chars_max);

const Agent = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);

/** `parties` where the caller has escrows of one job with several agents. */
const jobNamed = {
  job_id: JobName,
  parties: z
    .strictObject({ principal_agent_id: Agent.optional(), counterparty_agent_id: Agent.optional() })
    .optional()
    .describe('Wanted where the caller has several escrows of that job_id.'),
};

export const A2aOpen = z.strictObject({
  job_id: JobName.optional().describe(
    'Of the principal’s own choosing, once; one is made where it is left out, and the same request then opens another.',
  ),
  job_spec_hash: z
    .string()
    .regex(/^(?:0x)?[0-9a-fA-F]{64}$/, { error: 'is not 32 bytes in hex' })
    .transform(text => text.replace(/^0x/, '').toLowerCase())
    .describe('Of what the two have agreed on: 32 bytes in hex.'),
  amount: Amount.describe('Atomic USDC.'),
  parties: z
    .strictObject({
      principal_agent_id: Agent.optional().describe('Who opens it; the agent of this book where it is left out.'),
      counterparty_agent_id: Agent.describe('Who is to deliver.'),
    })
    .describe('Two agents.'),
  expires_at: ExpiresAt.optional(),
  required: z
    .strictObject({
      output_hash: CommitmentMember.describe(
        'Commitment that the fulfilment receipt must make: `sha256:<hex>` or `keccak256:<hex>`.',
      ),
    })
    .optional()
    .describe('Requirements that the delivery must meet. Default: none; any output commitment is accepted.'),
});
export type A2aOpen = z.output<typeof A2aOpen>;

export const A2aName = z.strictObject(jobNamed);
export type A2aName = z.output<typeof A2aName>;
export const A2aFund = A2aName.extend({
  task_id: TaskName.describe(
    'A call of the principal’s book whose payment was collected; it backs one escrow, for ever.',
  ),
});
export const A2aSubmit = A2aName.extend({
  fulfillment_receipt_id: TaskName.describe(
    'Task id of a receipt on the book of either party, collected at or after opened_at. A receipt fulfils one escrow only, also if that escrow is clawed back later.',
  ),
  output_commitment: CommitmentMember.describe('`sha256:<hex>` or `keccak256:<hex>` of what is delivered.'),
});
export const A2aClawback = A2aName.extend(claim);
export const A2aChallenge = A2aName.extend({ claim_type: ClaimType, evidence: Evidence.optional() });

/** Body of POST /v1/agents/{agent_id}/book/a2a-escrow; possession in it was looked at before. */
export const A2aEscrowRequest = z.discriminatedUnion('action', [
  PossessionMembers.extend({ action: z.literal('open'), ...A2aOpen.shape }).strict(),
  PossessionMembers.extend({ action: z.literal('fund'), ...A2aFund.shape }).strict(),
  PossessionMembers.extend({ action: z.literal('submit'), ...A2aSubmit.shape }).strict(),
  PossessionMembers.extend({ action: z.literal('release'), ...A2aName.shape }).strict(),
  PossessionMembers.extend({ action: z.literal('clawback'), ...A2aClawback.shape }).strict(),
  PossessionMembers.extend({ action: z.literal('challenge'), ...A2aChallenge.shape }).strict(),
  PossessionMembers.extend({ action: z.literal('status'), ...A2aName.shape }).strict(),
]);
export type A2aEscrowRequest = z.output<typeof A2aEscrowRequest>;

const PAGE = `is a whole number from 1; more than ${escrowLimits.page_max} is clamped`;

/** Which page of GET /v1/agents/{agent_id}/book/a2a-escrow. */
export const EscrowPage = z.strictObject({
  limit: z
    .int({ error: PAGE })
    .min(1, { error: PAGE })
    .optional()
    .describe(`Escrows; default ${escrowLimits.page_default}, more than ${escrowLimits.page_max} is clamped.`),
  before: EscrowName.optional().describe('Escrows older than the one of this escrow_id: the last of the page before.'),
});
export type EscrowPage = z.output<typeof EscrowPage>;
