import { inflowLimits, rowLimits } from './limits.ts';
/*
 * A row as it is exported, field by field in the order of the specification. JSON, CSV, Parquet, the print page, OpenAPI and the
 * verifier use this table. Amounts are digits (atomic units), times are ISO 8601 in UTC.
 */

export interface ExportField {
  /** In tables, `json` and `json_list` are cells of text. */
  readonly type: 'text' | 'digits' | 'integer' | 'time' | 'json' | 'json_list';
  readonly nullable: boolean;
  readonly description?: string;
}

const text = { type: 'text', nullable: true } as const;
const digits = { type: 'digits', nullable: true } as const;
const integer = { type: 'integer', nullable: true } as const;

export const exportFields = {
  task_id: { type: 'text', nullable: false, description: 'Task id of the row.' },
  evidence: {
    type: 'text',
    nullable: false,
    description: 'Evidence that the row rests on, such as `collected`, `foreign_ingest` or `policy_blocked`.',
  },
  collected_at: {
    type: 'time',
    nullable: false,
    description:
      'Time the row was recorded (RFC 3339, UTC); for a call that was paid before the book existed, the time of its receipt.',
  },
  hub: {
    ...text,
    description:
      'Hub that answered. For a payment to somebody else and for an inflow, the hub as the owner of the book named it. Null if there is none.',
  },
  model: {
    ...text,
    description:
      'Model that the hub was asked for; for a refused call, the model that the caller asked for. For a payment to somebody else and for an inflow, as the owner of the book named it. Null if there is none.',
  },
  amount: {
    ...digits,
    description:
      'Amount in atomic units of the rail. Null if nothing was paid, if the transfer was not found, or if the payer is not proven; such a row counts in no total.',
  },
  payment_ref: {
    ...text,
    description:
      'Payment as `network:transaction`, whether its transfer was seen or not. Null if the row has no payment.',
  },
  rail: { ...text, description: 'Rail of the payment: `usdc` or `xno`. Null if nothing is known to have been paid.' },
  bucket: {
    ...text,
    description:
      'For an inflow or its correction: what the money is for, in words of the owner. Null for any other row.',
  },
  payer_wallet: {
    ...text,
    description: 'Wallet that paid or, for a refused call, whose payment was refused. Null if there was no payment.',
  },
  intent_id: { ...text, description: 'Id of the intent that the call names. Null if it names none.' },
  attempt_index: {
    ...integer,
    description: 'Number of the attempt at the intent, from 0. Null if the call names no attempt.',
  },
  replay_count: {
    type: 'integer',
    nullable: false,
    description: 'Number of times that the payment of the row was sent again.',
  },
  replay_events: {
    type: 'json_list',
    nullable: false,
    description: `The newest ${rowLimits.replays_shown_max} entries of replays, oldest first, each {replay_of, settlement_status, recorded_at}. An entry that combines several replays also has first_at and count. replay_count counts all replays.`,
  },
  arrival_status: {
    ...text,
    description:
      'Whether the transfer that pays the row was seen. `pending`: not yet. `confirmed`: it was seen. `unverified`: not seen by the cutoff, or no longer on its chain. Null if the row has no transfer.',
  },
  omission_rule: {
    ...text,
    description:
      'Why the payment of the row is not counted, as a code, such as `no_ingress_receipt_at_cutoff`. Null if there is no such reason.',
  },
  ingress_receipt: {
    type: 'json',
    nullable: true,
    description: 'Transfer that was seen after the row was recorded: {ref, confirmed_at}. Null if none was.',
  },
  inflow_claim: {
    type: 'json',
    nullable: true,
    description: 'For an inflow or its correction: signed claim of bucket and allocation. Null for any other row.',
  },
  inflow_corrections: {
    type: 'json_list',
    nullable: true,
    description: `For an inflow: its newest corrections, at most ${inflowLimits.corrections_shown_max} and ${inflowLimits.corrections_shown_bytes_max / 1_024} KiB in total. Each is also a row of its own. Null for any other row.`,
  },
  policy_code: {
    ...text,
    description:
      'Rule of the book that refused the call, as a code, such as `daily_cap_exceeded`. Null if it was not refused.',
  },
  reason: { ...text, description: 'Reason for the refusal or the correction, in a sentence. Null for all other rows.' },
  policy_key: {
    ...text,
    description: 'Cap that refused the call: `hourly_cap` or `daily_cap`. Null if no such cap did.',
  },
  spent_atomic: {
    ...digits,
    description:
      'Amount that counted as spent when the book refused the call, in atomic USDC: in the hour or day of `policy_key` or, without one, in all. Null if the call was not refused.',
  },
  cap_atomic: {
    ...digits,
    description: 'Cap, budget or approval threshold that refused the call, in atomic USDC. Null if no such amount did.',
  },
  period_start: {
    ...text,
    description: 'Start of the hour or day of the cap that refused the call (RFC 3339, UTC). Null if no such cap did.',
  },
  verify_url: {
    ...text,
    description:
      'URL of the public page of the receipt or, for a refused call, of the signed refusal. Null if the row has neither.',
  },
  auditor_url: {
    ...text,
    description: 'URL of the receipt with all evidence (`?format=auditor`). Null if the row has no receipt.',
  },
  explorer_url: {
    ...text,
    description: 'URL of the transaction in a block explorer. Null if the row has no payment on Base or Solana.',
  },
  // The specification's list ends above.
  parent_ref: {
    ...text,
    description:
      'Task id of the parent row. For a redeemed hand-off, the task id of the receipt that was handed off, which is on another book. Null if there is no parent.',
  },
  corrects: {
    ...text,
    description: 'Task id of the row that this row corrects. Null if this row is not a correction.',
  },
  yielded_to: {
    ...text,
    description:
      'For a correction of a row whose transfer another row records with a proven payer: task id of that other row, which may be on another book. Null for any other row.',
  },
  transfer_index: {
    ...integer,
    description:
      'Position of the transfer: the index of its log in the block on base, of its instruction in the transaction on solana, from 0. Together with payment_ref it identifies the transfer. Null on nano, where payment_ref alone identifies it, and if the transfer was not observed or its payer is not proven.',
  },
  delegation_hash: {
    ...text,
    description:
      'Delegation hash of the session that the call was made under (0x and 64 hex digits). Null if it was made under none.',
  },
  seq: { type: 'integer', nullable: false, description: 'Number of the row in its book: from 1, without gaps.' },
  row_hash: {
    type: 'text',
    nullable: false,
    description:
      'SHA-256 (hex) of the facts that the row was recorded with, its seq and the row_hash of the previous row, which makes the rows of a book a hash chain.',
  },
  inflow_corrections_count: {
    ...integer,
    description:
      'For an inflow: number of its corrections, including those that inflow_corrections does not show. Null for any other row.',
  },
  answered_model: {
    ...text,
    description: 'Model that the hub named in its answer. Null if it named none, or if no hub was asked.',
  },
} as const satisfies Record<string, ExportField>;

export type ExportFieldName = keyof typeof exportFields;
export const exportFieldNames = Object.keys(exportFields) as ExportFieldName[];

/** Fields of a streamed export. `seq` is first, because a reader resumes by it. */
export const streamedFieldNames: readonly ExportFieldName[] = [
  'seq',
  ...exportFieldNames.filter(name => name !== 'seq'),
];
