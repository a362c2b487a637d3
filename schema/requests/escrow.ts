import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { claimTypes } from '../dispute/reasons.ts';
import {
  a2aEscrowActions,
  COMMITMENT_FORM,
  commitmentText,
  ledgerEscrowActions,
  parseCommitment,
  proofTiers,
} from '../escrow.ts';
import { escrowLimits, limits } from '../limits.ts';
import { word } from '../noun.ts';
import { constantText, describedWords, type Words } from '../words.ts';
import { AgentNumber } from './author.ts';
import { Moment } from './book.ts';
import { freeObject } from './free-object.ts';
import { pageLimit } from './page-limit.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* Requests of /v1/agents/{agent_id}/book/escrow and …/book/a2a-escrow: one for each action. */

const EscrowName = storedText.min(1).max(limits.id_chars_max);
const TaskName = storedText.min(1).max(escrowLimits.task_chars_max);

const DIGITS = 'must be a string of digits (atomic USDC)';
const Amount = z
  .string({ error: DIGITS })
  .refine(text => parseAtomic(text) !== null, { error: DIGITS })
  .refine(text => text !== '0', { error: 'must be more than 0' })
  .meta({ scalar: 'AtomicAmount' });

/** In one spelling, so that equal requests are recognized as the same. */
const CommitmentMember = z.string({ error: COMMITMENT_FORM }).transform((text, context): string => {
  const commitment = parseCommitment(text);
  if (commitment !== null) return commitmentText(commitment);
  context.addIssue({ code: 'custom', message: COMMITMENT_FORM });
  return z.NEVER;
});
const COMMITMENT = '`sha256:<hex>` or `keccak256:<hex>`';

const days = escrowLimits.lasts_seconds_max / 86_400;
const usual_days = escrowLimits.lasts_seconds_default / 86_400;
const ExpiresAt = Moment.describe(
  `Time the escrow expires, at most ${days} days from now: RFC 3339, or by REST a day (its start, UTC). Default: ${usual_days} days from now.`,
);

const Evidence = freeObject({
  bytes: escrowLimits.evidence_bytes_max,
  depth: escrowLimits.evidence_depth_max,
  members: escrowLimits.evidence_members_max,
})
  .meta({ type: 'object', additionalProperties: true, scalar: 'JSONObject' })
  .describe(
    `Evidence: any JSON object of up to ${escrowLimits.evidence_bytes_max / 1_024} KiB. This service records it and does not judge it. Default: none.`,
  );

/** Reason of a clawback. */
export const EscrowClaim = z.strictObject({
  claim_type: word(claimTypes)
    .optional()
    .describe(
      'Why the escrow is clawed back. Required before `expires_at`: for a ledger escrow always, for an escrow between agents from the principal while `funded`. Otherwise optional.',
    ),
  evidence: Evidence.optional(),
});

export const LedgerRequired = z.strictObject({
  output_hash: CommitmentMember.optional().describe(
    `Commitment that the receipt must make: ${COMMITMENT}. Default: none is required.`,
  ),
  proof_tier: word(proofTiers)
    .optional()
    .describe(
      'Proof that the receipt must show. `settlement`: the transfer was seen. `inference`: also, this service commits in it to the output of a model. Default: none.',
    ),
});

export const LedgerOpen = z.strictObject({
  task_id: TaskName.describe(
    'To open an escrow: task id of the call of this book that it is opened over. Its payment must be collected.',
  ),
  amount: Amount.optional().describe(
    'Amount in atomic USDC. If given, it must equal the amount collected for the call. Default: the amount collected.',
  ),
  expires_at: ExpiresAt.optional(),
  required: LedgerRequired.optional().describe(
    'What is checked on release. Default: only that the payment of the call was collected.',
  ),
});
export type LedgerOpen = z.output<typeof LedgerOpen>;

/** An escrow by its id, or the newest escrow of a task. */
export const LedgerName = z.strictObject({
  escrow_id: EscrowName.optional().describe('Id of the escrow. Send either this or `task_id`.'),
  task_id: TaskName.optional().describe(
    'For an existing escrow: task id of the call that it was opened over. Without `escrow_id`, it names the newest escrow over that call.',
  ),
});
export type LedgerName = z.output<typeof LedgerName>;
const isNamed = ({ escrow_id, task_id }: LedgerName) => escrow_id !== undefined || task_id !== undefined;
const unnamed = { path: ['escrow_id'], error: 'escrow_id or task_id is required' };

/** The action of a request, described by what it does. */
function action<W extends string, A extends W>({ meanings }: Words<W>, name: A) {
  return z.literal(name).describe(`${constantText(name)} ${meanings[name]}`);
}

/** Body of POST /v1/agents/{agent_id}/book/escrow. Possession is checked before the body is parsed. */
export const LedgerEscrowRequest = z.discriminatedUnion('action', [
  PossessionMembers.extend({ action: action(ledgerEscrowActions, 'open'), ...LedgerOpen.shape }).strict(),
  PossessionMembers.extend({ action: action(ledgerEscrowActions, 'release'), ...LedgerName.shape })
    .strict()
    .refine(isNamed, unnamed),
  PossessionMembers.extend({
    action: action(ledgerEscrowActions, 'clawback'),
    ...LedgerName.shape,
    ...EscrowClaim.shape,
  })
    .strict()
    .refine(isNamed, unnamed),
  PossessionMembers.extend({ action: action(ledgerEscrowActions, 'status'), ...LedgerName.shape })
    .strict()
    .refine(isNamed, unnamed),
]);

const JobName = z
  .string()
  .regex(/^[\w.:-]+$/, { error: 'may contain only letters, digits and . _ : -' })
  .max(escrowLimits.job_chars_max);

const principal_agent_id = AgentNumber.optional().describe(
  'For an existing escrow: id of the agent that opened it. Default: any agent.',
);

export const A2aParties = z.strictObject({
  principal_agent_id,
  counterparty_agent_id: AgentNumber.optional().describe(
    'For an existing escrow: id of the agent that delivers. Default: any agent.',
  ),
});

/** The parties of a new escrow. */
export const A2aOpenParties = z.strictObject({
  principal_agent_id: principal_agent_id.describe(
    'To open an escrow: id of the agent of the book. Default: that agent.',
  ),
  counterparty_agent_id: AgentNumber.describe('To open an escrow: id of the agent that must deliver.'),
});

export const A2aRequired = z.strictObject({
  output_hash: CommitmentMember.describe(`Commitment that the fulfilment receipt must make: ${COMMITMENT}.`),
});

export const A2aOpen = z.strictObject({
  job_id: JobName.optional().describe(
    `To open an escrow: id of the job, chosen and used once by the principal, of up to ${escrowLimits.job_chars_max} letters, digits and . _ : -. Default: a new id, so that repeating the request opens another escrow.`,
  ),
  job_spec_hash: z
    .string()
    .regex(/^(?:0x)?[0-9a-fA-F]{64}$/, { error: 'is not 32 bytes: 64 hex digits, optionally after 0x' })
    .transform(text => text.replace(/^0x/, '').toLowerCase())
    .describe('Hash of what the two agents have agreed on: 32 bytes in hex, with or without 0x.'),
  amount: Amount.describe(
    'Amount that the job is worth, in atomic USDC. The payment that funds the escrow must be at least this.',
  ),
  parties: A2aOpenParties.describe(
    'To open an escrow: the two agents. The counterparty must be named; the principal is the agent of the book.',
  ),
  expires_at: ExpiresAt.optional(),
  required: A2aRequired.optional().describe(
    'Requirements that the delivery must meet. Default: none; any output commitment is accepted.',
  ),
});
export type A2aOpen = z.output<typeof A2aOpen>;

/** An escrow by its job. */
export const A2aName = z.strictObject({
  job_id: JobName.describe('For an existing escrow: id of its job, as its `job_id` shows it.'),
  parties: A2aParties.optional().describe(
    'For an existing escrow: one or both of its agents. Default: the escrow that the agent itself opened under this job_id, otherwise one that was funded, otherwise any. Required if several of these match.',
  ),
});
export type A2aName = z.output<typeof A2aName>;

/** The payment that funds an escrow. */
export const A2aFunding = z.strictObject({
  task_id: TaskName.describe(
    'Task id of a call of the principal’s book whose collected payment is at least the `amount` of the escrow. It backs one escrow only.',
  ),
});

export const A2aDelivery = z.strictObject({
  fulfillment_receipt_id: TaskName.describe(
    'Task id of a receipt on the book of either party, collected at or after `opened_at` of the escrow. A receipt fulfils one escrow only, even if that escrow is clawed back later.',
  ),
  output_commitment: CommitmentMember.describe(`Commitment to what is delivered: ${COMMITMENT}.`),
});

/** Reason that a delivery is challenged. */
export const EscrowChallenge = z.strictObject({
  claim_type: word(claimTypes).describe(
    describedWords({ ...claimTypes, description: 'Why the delivery is challenged. Required for a challenge.' }),
  ),
  evidence: Evidence.optional(),
});

/** Body of POST /v1/agents/{agent_id}/book/a2a-escrow. Possession is checked before the body is parsed. */
export const A2aEscrowRequest = z.discriminatedUnion('action', [
  PossessionMembers.extend({ action: action(a2aEscrowActions, 'open'), ...A2aOpen.shape }).strict(),
  PossessionMembers.extend({
    action: action(a2aEscrowActions, 'fund'),
    ...A2aName.shape,
    ...A2aFunding.shape,
  }).strict(),
  PossessionMembers.extend({
    action: action(a2aEscrowActions, 'submit'),
    ...A2aName.shape,
    ...A2aDelivery.shape,
  }).strict(),
  PossessionMembers.extend({ action: action(a2aEscrowActions, 'release'), ...A2aName.shape }).strict(),
  PossessionMembers.extend({
    action: action(a2aEscrowActions, 'clawback'),
    ...A2aName.shape,
    ...EscrowClaim.shape,
  }).strict(),
  PossessionMembers.extend({
    action: action(a2aEscrowActions, 'challenge'),
    ...A2aName.shape,
    ...EscrowChallenge.shape,
  }).strict(),
  PossessionMembers.extend({ action: action(a2aEscrowActions, 'status'), ...A2aName.shape }).strict(),
]);

/** Page of GET /v1/agents/{agent_id}/book/a2a-escrow. */
export const EscrowPage = z.strictObject({
  limit: pageLimit({ of: 'escrows', default: escrowLimits.page_default, max: escrowLimits.page_max }),
  before: EscrowName.optional().describe(
    'Returns only escrows older than the one with this escrow_id: pass `next` of the previous response. Default: starts at the newest.',
  ),
});
export type EscrowPage = z.output<typeof EscrowPage>;
