import { z } from 'zod';
import { claimTypes } from './dispute/reasons.ts';
import { escrowLimits } from './limits.ts';
import { AtomicMember, JsonMember, sizedList, TimeMember, word } from './noun.ts';
import { type WordOf, type Words, wordList } from './words.ts';

/*
 * Escrows: their enums and the nouns that show them. A ledger escrow is on a row of one book; an A2A escrow is between two agents.
 */

const RELEASES = 'Releases the escrow, if every check passes. No money moves.';
const TAKES_BACK = 'Claws the escrow back (ends it without a release).';
const READS = 'Returns the escrow and changes nothing.';
const RELEASED = 'The escrow was released: every check passed.';
const TAKEN_BACK = 'The escrow was clawed back: it ended without a release.';

export const ledgerEscrowActions = {
  graph: 'LedgerEscrowAction',
  description: 'What the owner of a book does with a ledger escrow.',
  meanings: {
    open: 'Opens an escrow on a call of the book whose payment was collected.',
    release: RELEASES,
    clawback: TAKES_BACK,
    status: READS,
  },
} as const satisfies Words;
export type LedgerEscrowAction = WordOf<typeof ledgerEscrowActions>;
export const ledgerEscrowStates = {
  graph: 'LedgerEscrowState',
  description: 'Whether a ledger escrow is open, or how it ended.',
  meanings: {
    open: 'The escrow was opened, and has not ended yet.',
    released: RELEASED,
    clawed_back: TAKEN_BACK,
    expired: 'The escrow expired before it was released or clawed back.',
  },
} as const satisfies Words;
export type LedgerEscrowState = WordOf<typeof ledgerEscrowStates>;

export const a2aEscrowActions = {
  graph: 'A2aEscrowAction',
  description: 'What a party does with an escrow between two agents.',
  meanings: {
    open: 'The principal opens an escrow about a job, with its amount, counterparty and expiry.',
    fund: 'The principal names the collected payment that backs the escrow.',
    submit: 'The counterparty records its delivery: a receipt, and the hash of the output.',
    release: RELEASES,
    clawback: TAKES_BACK,
    challenge: 'The principal challenges the delivery, with a reason.',
    status: READS,
  },
} as const satisfies Words;
export type A2aEscrowAction = WordOf<typeof a2aEscrowActions>;
export const a2aEscrowStates = {
  graph: 'A2aEscrowState',
  description: 'Stage of an escrow between two agents, from its opening to its end.',
  meanings: {
    open: 'The escrow was opened, and is not funded yet.',
    funded: 'A collected payment of the principal backs the escrow.',
    submitted: 'The counterparty has recorded its delivery, which the principal can release or challenge.',
    released: RELEASED,
    clawed_back: TAKEN_BACK,
    challenged: 'The principal has challenged the delivery. The escrow can still be released or clawed back.',
    expired: 'The escrow expired before the counterparty submitted a delivery.',
  },
} as const satisfies Words;
export type A2aEscrowState = WordOf<typeof a2aEscrowStates>;
export const a2aEscrowParties = {
  graph: 'A2aEscrowParty',
  description: 'Role of an agent in an escrow between two agents.',
  meanings: {
    principal: 'The agent that opens and funds the escrow, and receives the delivery.',
    counterparty: 'The agent that does the job and delivers its output.',
  },
} as const satisfies Words;
export type A2aEscrowParty = WordOf<typeof a2aEscrowParties>;

/**
 * Proof that a receipt must show before an escrow is released. `settlement`: the transfer was seen. `inference`: that, and the
 * receipt commits to the output of a model.
 */
export const proofTiers = {
  graph: 'ProofTier',
  description: 'Proof that the receipt of a call must show before a ledger escrow is released.',
  meanings: {
    settlement: 'The transfer that paid for the call was seen on its chain.',
    inference: 'The transfer was seen, and in the receipt this service commits to the output of a model by its hash.',
  },
} as const satisfies Words;
export type ProofTier = WordOf<typeof proofTiers>;

export const digestKindWords = {
  graph: 'DigestKind',
  description: 'Hash function of a digest.',
  meanings: { sha256: 'SHA-256.', keccak256: 'Keccak-256 as Ethereum uses it, which is not SHA3-256.' },
} as const satisfies Words;
export type DigestKind = WordOf<typeof digestKindWords>;

/** Hash of an output and its hash function. */
export interface EscrowCommitment {
  readonly kind: DigestKind;
  /** 64 hex digits, lower case. */
  readonly hash: string;
}

export const COMMITMENT_FORM =
  'must be `sha256:<64 hex digits>` or `keccak256:<64 hex digits>`: the prefix names the hash function';

/** The hash function is always named, never inferred from `0x`. Null if the text is not a commitment. */
export function parseCommitment(text: string): EscrowCommitment | null {
  const [, kind, hash] = /^(sha256|keccak256):(?:0x)?([0-9a-fA-F]{64})$/.exec(text) ?? [];
  return kind === undefined || hash === undefined ? null : { kind: kind as DigestKind, hash: hash.toLowerCase() };
}

export function commitmentText({ kind, hash }: EscrowCommitment): string {
  return `${kind}:${hash}`;
}

/** One check of a release. */
export const EscrowCheckNoun = z.object({
  check: z
    .string()
    .describe(
      'Name of the check, such as `collected` (the payment was collected) or `output_hash` (the receipt commits to this hash).',
    ),
  passed: z.boolean().describe('Whether the check passed.'),
  wanted: z.string().describe('Value that is required. For a `proof_tier` of `settlement`, `inference` passes too.'),
  found: z.string().nullable().describe('Value that was found. Null if there is none.'),
});

const statement = {
  claim_type: word(claimTypes)
    .nullable()
    .describe('Why the escrow was challenged or clawed back. Null for any other action, or if no reason was given.'),
  evidence: JsonMember.nullable().describe(
    'Evidence as it was given: any JSON object. This service does not judge it. Null if none was given.',
  ),
  checks: sizedList(EscrowCheckNoun, escrowLimits.checks_assumed)
    .nullable()
    .describe('Checks that were made on release. Null unless `action` is `release`.'),
};

const ACTION = 'Action that led to this phase. Null if the escrow expired.';
const STATE = 'State of the escrow after this phase.';
const AT = 'Time of this phase (RFC 3339, UTC).';

/** A phase of a ledger escrow. It is an event of the book. */
export const LedgerEscrowPhaseNoun = z.object({
  action: word(ledgerEscrowActions).nullable().describe(ACTION),
  state: word(ledgerEscrowStates).describe(STATE),
  at: TimeMember.describe(AT),
  position: z.int().describe('Position of this phase among the events of the book, from 1.'),
  ...statement,
});

export const LedgerEscrowRequiredNoun = z.object({
  output_hash: z
    .string()
    .nullable()
    .describe(
      'Commitment that the receipt must make: `sha256:<hex>` or `keccak256:<hex>`. Null if no output hash is required.',
    ),
  proof_tier: word(proofTiers).nullable().describe('Proof that the receipt must show. Null if none is required.'),
});

const escrow_id = z.string().describe('Id of the escrow.');

const stateOf = <W extends string>(states: Words<W>) =>
  word(states).describe(`State of the escrow: \`${wordList(states).join('`, `')}\`.`);

/**
 * Members of the course of an escrow: its phases so far and the possible actions. `until` and `legal` describe what differs by
 * kind.
 */
const courseOf = <P extends z.ZodType, W extends string>(
  phase: P,
  actions: Words<W>,
  { until, legal }: { readonly until: string; readonly legal: string },
) => ({
  opened_at: TimeMember.describe('Time the escrow was opened (RFC 3339, UTC).'),
  expires_at: TimeMember.describe(until),
  phases: sizedList(phase, escrowLimits.phases_max).describe(
    'Phases of the escrow so far, oldest first, each with its action, state and time.',
  ),
  legal: sizedList(word(actions), escrowLimits.phases_max).describe(legal),
});

/** A hold that an owner records on a call of their own book. */
export const LedgerEscrowNoun = z.object({
  escrow_id,
  agent_id: z.int().describe('Id of the agent of the book.'),
  task_id: z.string().describe('Task id of the call that the escrow is on.'),
  amount: AtomicMember.describe('Amount collected for the call, in atomic USDC. The escrow does not hold it.'),
  required: LedgerEscrowRequiredNoun.describe(
    'Requirements that are checked on release: output hash and proof tier, each null if not required.',
  ),
  state: stateOf(ledgerEscrowStates),
  ...courseOf(LedgerEscrowPhaseNoun, ledgerEscrowActions, {
    until: 'Time the escrow expires if it is still open (RFC 3339, UTC).',
    legal: 'Names of the actions that are possible on the escrow now, such as `release`.',
  }),
});

export const A2aEscrowPartiesNoun = z.object({
  principal_agent_id: z.int().describe('Id of the agent that opens and funds the escrow.'),
  counterparty_agent_id: z.int().describe('Id of the agent that delivers.'),
});

export const A2aEscrowRequiredNoun = z.object({
  output_hash: z
    .string()
    .nullable()
    .describe(
      'Commitment that the fulfilment receipt must make: `sha256:<hex>` or `keccak256:<hex>`. Null if no output hash is required.',
    ),
});

/** A phase of an escrow between two agents, with its row in the book of the agent that reads it. */
export const A2aEscrowPhaseNoun = z.object({
  action: word(a2aEscrowActions).nullable().describe(ACTION),
  by: word(a2aEscrowParties).nullable().describe('Party that took the action. Null if the escrow expired.'),
  state: word(a2aEscrowStates).describe(STATE),
  at: TimeMember.describe(AT),
  task_id: z
    .string()
    .nullable()
    .describe(
      'Task id of the row that records this phase in the book of the agent that reads it. Null for the counterparty until it has acted itself.',
    ),
  seq: z
    .int()
    .nullable()
    .describe(
      'The seq of the row that records this phase in the book of the agent that reads it. Null for the counterparty until it has acted itself.',
    ),
  ...statement,
});

/** An agreement between two agents about a job, as one of them sees it. */
export const A2aEscrowNoun = z.object({
  escrow_id,
  job_id: z.string().describe('Id of the job, chosen by the principal. A principal uses it once.'),
  job_spec_hash: z
    .string()
    .describe('Hash of what the two agents have agreed on, as the principal stated it: 64 hex digits, lower case.'),
  amount: AtomicMember.describe('Amount that the job is worth, in atomic USDC. The escrow does not hold it.'),
  parties: A2aEscrowPartiesNoun.describe('The two agents of the escrow: principal and counterparty.'),
  required: A2aEscrowRequiredNoun.describe(
    'Requirement that the delivery must meet: `output_hash`, null if any output is accepted.',
  ),
  party: word(a2aEscrowParties).describe('Role of the requesting agent in the escrow: `principal` or `counterparty`.'),
  state: stateOf(a2aEscrowStates),
  task_id: z
    .string()
    .nullable()
    .describe(
      'Task id of the payment that backs the escrow, in the book of the principal. Null for the counterparty, and before the escrow is funded.',
    ),
  fulfillment_receipt_id: z
    .string()
    .nullable()
    .describe('Task id of the submitted fulfilment receipt. Null if none was submitted. No other escrow can use it.'),
  output_commitment: z
    .string()
    .nullable()
    .describe(
      'Commitment to the output, as the counterparty submitted it: `sha256:<hex>` or `keccak256:<hex>`. Null if none was submitted.',
    ),
  ...courseOf(A2aEscrowPhaseNoun, a2aEscrowActions, {
    until: 'Time until which the escrow can be funded and delivered (RFC 3339, UTC).',
    legal: 'Names of the actions that the requesting agent can take on the escrow now, such as `fund`.',
  }),
});

export const A2aEscrowsNoun = z.object({
  agent_id: z.int().describe('Id of the agent.'),
  escrows: z.array(A2aEscrowNoun).describe('Escrows of the agent as either party, newest first.'),
  next: z.string().nullable().describe('`before` of the next page. Null if this is the last page.'),
});
