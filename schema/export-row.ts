/*
 * A row of a book as it is exported, field by field, in the specification's order: JSON, CSV, Parquet, the page for print,
 * OpenAPI and the verifier read their fields here. Amounts are digits (atomic units), times ISO 8601 in UTC.
 */

export interface ExportField {
  /** `json`, `json_list`: a cell of a table holds it as text. */
  readonly type: 'text' | 'digits' | 'integer' | 'time' | 'json' | 'json_list';
  readonly nullable: boolean;
  readonly description?: string;
}

const text = { type: 'text', nullable: true } as const;
const digits = { type: 'digits', nullable: true } as const;
const integer = { type: 'integer', nullable: true } as const;

export const exportFields = {
  task_id: { type: 'text', nullable: false },
  evidence: { type: 'text', nullable: false },
  collected_at: { type: 'time', nullable: false },
  hub: text,
  model: text,
  amount: { ...digits, description: 'Atomic units; null where no amount was collected: such a row is in no total.' },
  payment_ref: { ...text, description: '<network>:<transaction>.' },
  rail: text,
  bucket: text,
  payer_wallet: text,
  intent_id: text,
  attempt_index: integer,
  replay_count: { type: 'integer', nullable: false },
  replay_events: {
    type: 'json_list',
    nullable: false,
    description: '{replay_of, settlement_status, recorded_at}; of one that stands for several first_at and count too.',
  },
  arrival_status: text,
  omission_rule: text,
  ingress_receipt: { type: 'json', nullable: true },
  inflow_claim: { type: 'json', nullable: true },
  inflow_corrections: { type: 'json_list', nullable: true },
  policy_code: text,
  reason: text,
  policy_key: text,
  spent_atomic: digits,
  cap_atomic: digits,
  period_start: text,
  verify_url: { ...text, description: 'The receipt, or the signed refusal of a row that was blocked.' },
  auditor_url: { ...text, description: 'The receipt with `?format=auditor`.' },
  explorer_url: { ...text, description: 'Where the payment can be looked up on its chain.' },
  // The specification's list ends above.
  parent_ref: {
    ...text,
    description:
      'Task id of the row that it follows from. Of a redeemed hand-off, the task id of the receipt that was handed on, which is on another book.',
  },
  corrects: { ...text, description: 'Of a correction: the task of the row that it takes the place of.' },
  yielded_to: {
    ...text,
    description: 'Of a correction: the task of the row that records the same transfer with its payer proven.',
  },
} as const satisfies Record<string, ExportField>;

export type ExportFieldName = keyof typeof exportFields;
export const exportFieldNames = Object.keys(exportFields) as ExportFieldName[];
