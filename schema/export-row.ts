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
  evidence: { type: 'text', nullable: false, description: 'Evidence that the row rests on.' },
  collected_at: {
    type: 'time',
    nullable: false,
    description: 'Time the payment was collected or, if none was collected, the row was recorded (RFC 3339, UTC).',
  },
  hub: {
    ...text,
    description:
      'Hub that answered. For a payment to somebody else and for an inflow, the hub as the owner of the book named it. Null if there is none.',
  },
  model: { ...text, description: 'Model that the hub was asked for. Null if there is none.' },
  amount: {
    ...digits,
    description: 'Amount in atomic units of the rail. Null if no amount was collected: such a row counts in no total.',
  },
  payment_ref: { ...text, description: 'Payment as `network:transaction`.' },
  rail: { ...text, description: 'Rail of the payment: `usdc` or `xno`. Null if nothing is known to have been paid.' },
  bucket: { ...text, description: 'For an inflow: what the money is for. Null for any other row.' },
  payer_wallet: { ...text, description: 'Wallet that paid. Null if no wallet paid.' },
  intent_id: { ...text, description: 'Id of the treasury intent that the call names. Null if it names none.' },
  attempt_index: {
    ...integer,
    description: 'Number of the attempt within that intent, from 0. Null if the call names none.',
  },
  replay_count: {
    type: 'integer',
    nullable: false,
    description: 'Number of times that the payment of the row was sent again.',
  },
  replay_events: {
    type: 'json_list',
    nullable: false,
    description: `The newest ${rowLimits.replays_shown_max} replays, each {replay_of, settlement_status, recorded_at}. An entry that combines several replays also has first_at and count. replay_count counts all.`,
  },
  arrival_status: { ...text, description: 'Whether the transfer that pays the row was seen. Null if there is none.' },
  omission_rule: { ...text, description: 'Rule by which the row has no amount. Null if none applies.' },
  ingress_receipt: {
    type: 'json',
    nullable: true,
    description: 'Transfer that was seen after the row was recorded. Null if none was.',
  },
  inflow_claim: {
    type: 'json',
    nullable: true,
    description: 'For an inflow: signed claim of bucket and allocation. Null for any other row.',
  },
  inflow_corrections: {
    type: 'json_list',
    nullable: true,
    description: `For an inflow: its newest corrections, at most ${inflowLimits.corrections_shown_max} and ${inflowLimits.corrections_shown_bytes_max / 1_024} KiB in total. Each is also a row of its own. inflow_corrections_count counts all.`,
  },
  policy_code: {
    ...text,
    description: 'Rule of the book that refused the call, as a code. Null if it was not refused.',
  },
  reason: { ...text, description: 'Reason for the refusal or the correction, in a sentence. Null for all other rows.' },
  policy_key: {
    ...text,
    description: 'Name of the hourly or daily cap that refused the call. Null if no such cap did.',
  },
  spent_atomic: {
    ...digits,
    description: 'Atomic USDC counted under the ceiling that refused. Null if the call was not refused.',
  },
  cap_atomic: { ...digits, description: 'Ceiling that refused the call, in atomic USDC. Null if there is none.' },
  period_start: {
    ...text,
    description: 'Start of the hour or day (UTC) of the cap that refused the call. Null if no such cap did.',
  },
  verify_url: {
    ...text,
    description: 'URL of the public page of the receipt or, for a refused call, of the signed refusal.',
  },
  auditor_url: { ...text, description: 'URL of the receipt with `?format=auditor`.' },
  explorer_url: { ...text, description: 'URL at which the payment can be looked up on its chain.' },
  // The specification's list ends above.
  parent_ref: {
    ...text,
    description:
      'Task id of the parent row. For a redeemed hand-off, the task id of the receipt that was handed off, which is on another book.',
  },
  corrects: { ...text, description: 'Task id of the row that this row corrects.' },
  yielded_to: {
    ...text,
    description:
      'Task id of the row that records the same transfer with a proven payer and replaces the corrected row.',
  },
  transfer_index: {
    ...integer,
    description:
      'Position of the transfer: the log index within its block on base, the index of the instruction on solana. With payment_ref it identifies the transfer where several share a transaction.',
  },
  delegation_hash: { ...text, description: 'Delegation hash of the session that the call was made under.' },
  seq: { type: 'integer', nullable: false, description: 'Position of the row in its book: from 1, without gaps.' },
  row_hash: {
    type: 'text',
    nullable: false,
    description:
      'SHA-256 (hex) of the facts that the row was recorded with, its seq and the row_hash of the row before it. The book chains its rows by it.',
  },
  inflow_corrections_count: {
    ...integer,
    description:
      'For an inflow: number of its corrections, including those that inflow_corrections does not show. Null for any other row.',
  },
  answered_model: { ...text, description: 'Model that the hub named in its answer. Null if it named none.' },
} as const satisfies Record<string, ExportField>;

export type ExportFieldName = keyof typeof exportFields;
export const exportFieldNames = Object.keys(exportFields) as ExportFieldName[];

/** Fields of a streamed export. `seq` is first, because a reader resumes by it. */
export const streamedFieldNames: readonly ExportFieldName[] = [
  'seq',
  ...exportFieldNames.filter(name => name !== 'seq'),
];
