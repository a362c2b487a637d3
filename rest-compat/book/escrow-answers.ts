import { z } from 'zod';
import { claimTypes } from '../../schema/dispute/reasons.ts';
import {
  a2aEscrowActions,
  a2aEscrowParties,
  a2aEscrowStates,
  ledgerEscrowActions,
  ledgerEscrowStates,
  proofTiers,
} from '../../schema/escrow.ts';
import { wordList } from '../../schema/words.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';

/* What the doors of escrows answer, as it looks on the wire. */

const EscrowCheck = z.object({
  check: z.string().describe('What was looked at.'),
  passed: z.boolean(),
  wanted: z.string(),
  found: z.string().nullable(),
});

const said = {
  claim_type: z.enum(wordList(claimTypes)).nullable(),
  evidence: JsonMembers.nullable().describe('As it was given; judged by nobody.'),
  checks: z.array(EscrowCheck).nullable().describe('Of a release.'),
};

/** The course of an escrow of either kind: its term, the phases so far, and the actions that may follow. */
const course = <Action extends z.ZodType, Phase extends z.ZodRawShape>(
  action: Action,
  phase: Phase,
  legal: string,
) => ({
  opened_at: z.string(),
  expires_at: z.string(),
  phases: z.array(z.object({ action: action.nullable().describe('null: its time was over.'), ...phase, ...said })),
  legal: z.array(action).describe(legal),
});

export const LedgerEscrowAnswer = z.object({
  escrow_id: z.string(),
  agent_id: z.int(),
  task_id: z.string(),
  amount: Atomic.describe('Atomic USDC that were collected for that task. None of it is held.'),
  required: z.object({ output_hash: z.string().nullable(), proof_tier: z.enum(wordList(proofTiers)).nullable() }),
  state: z.enum(wordList(ledgerEscrowStates)),
  ...course(
    z.enum(wordList(ledgerEscrowActions)),
    {
      state: z.enum(wordList(ledgerEscrowStates)),
      at: z.string(),
      position: z.int().describe('Of its event on the book.'),
    },
    'What may be done with it now.',
  ),
});

export const A2aEscrowAnswer = z.object({
  escrow_id: z.string(),
  job_id: z.string(),
  job_spec_hash: z.string(),
  amount: Atomic.describe('Atomic USDC. None of it is held.'),
  parties: z.object({ principal_agent_id: z.int(), counterparty_agent_id: z.int() }),
  required: z
    .object({ output_hash: z.string().nullable().describe('Null if no output hash is required.') })
    .describe('Requirements that the delivery must meet.'),
  party: z.enum(wordList(a2aEscrowParties)).describe('Which of them is shown this.'),
  state: z.enum(wordList(a2aEscrowStates)),
  task_id: z.string().nullable().describe('The payment that backs it: shown to the principal alone.'),
  fulfillment_receipt_id: z
    .string()
    .nullable()
    .describe('Task id of the submitted fulfilment receipt. Null before submit. No other escrow can use it.'),
  output_commitment: z.string().nullable().describe('`sha256:<hex>` or `keccak256:<hex>`.'),
  ...course(
    z.enum(wordList(a2aEscrowActions)),
    {
      by: z.enum(wordList(a2aEscrowParties)).nullable(),
      state: z.enum(wordList(a2aEscrowStates)),
      at: z.string(),
      task_id: z.string().nullable().describe('Of its row; null where this book has none.'),
      seq: z.int().nullable(),
    },
    'What this party may do with it now.',
  ),
});

export const A2aEscrowsAnswer = z.object({
  agent_id: z.int(),
  escrows: z.array(A2aEscrowAnswer).describe('Newest first, whichever party the agent is.'),
  next: z.string().nullable().describe('`before` of the next page. Null if there is none.'),
});

nameComponents({
  EscrowCheck,
  LedgerEscrow: LedgerEscrowAnswer,
  A2aEscrow: A2aEscrowAnswer,
  A2aEscrows: A2aEscrowsAnswer,
});
